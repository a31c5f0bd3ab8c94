import { type Json, type JsonObject, parseObject } from '../../canonical/node.ts'
import { credentialsInText } from '../body-credentials.ts'
import { bytesOf, textIn } from './body.ts'
import { CallerIds } from './caller-ids.ts'
import { type Difference, differences } from './difference.ts'
import type { FiledRecording } from './folder.ts'
import { matchKey } from './match-key.ts'
import type { RecordedFrame, RecordedRequest, RecordedSession } from './recording.ts'
import { redactedEvents } from './redact-events.ts'
import { Redaction } from './redaction.ts'

/** A message of a caller: audio, of which only the bytes matter and not their chunks, or anything else. */
export type CallerMessage = { readonly audio: Buffer } | { readonly form: JsonObject }

type Step = { readonly frame: RecordedFrame } & (
  | { readonly from: 'upstream' }
  | { readonly from: 'caller'; readonly message: CallerMessage }
)

/** A message of the upstream, and the time since the previous message in milliseconds. */
export interface ReleasedFrame {
  readonly frame: RecordedFrame
  readonly wait: number
}

/** A mismatch between the message that a script expected and the message that arrived. */
export interface SessionMiss {
  readonly file: string
  readonly differences: readonly Difference[]
}

/** A recorded session during replay. Follows the caller's messages, and releases the upstream's messages. */
export class SessionScript {
  readonly file: string
  readonly session: RecordedSession
  private readonly steps: readonly Step[]
  private stepIndex = 0
  private ids = new CallerIds()
  /** Number of bytes that have arrived of the current step's audio. */
  private receivedBytes = 0

  constructor({ file, recording }: FiledRecording, ignore: readonly string[]) {
    this.file = file
    this.session = recording.session!
    this.steps = this.session.frames.map(frame =>
      frame.from === 'upstream'
        ? { from: 'upstream', frame }
        : { from: 'caller', frame, message: callerMessage(bytesOf(frame), recording.request.path, ignore) },
    )
  }

  get isOver(): boolean {
    return this.stepIndex === this.steps.length
  }

  /** Returns the upstream's messages before the caller's next message. */
  released(): readonly ReleasedFrame[] {
    const releasedFrames: ReleasedFrame[] = []
    for (let step = this.steps[this.stepIndex]; step?.from === 'upstream'; step = this.steps[++this.stepIndex])
      releasedFrames.push({
        frame: this.withCallersIds(step.frame),
        wait: step.frame.ms - (this.steps[this.stepIndex - 1]?.frame.ms ?? 0),
      })
    return releasedFrames
  }

  /**
   * Processes a message of the caller. Returns a miss if the recorded session has a different message at this point.
   */
  take(message: CallerMessage): readonly ReleasedFrame[] | SessionMiss {
    const released = [...this.released()]
    const differing = 'audio' in message ? this.matchAudio(message.audio, released) : this.match(message.form)
    return differing === undefined ? [...released, ...this.released()] : { file: this.file, differences: differing }
  }

  private match(form: JsonObject): readonly Difference[] | undefined {
    const step = this.steps[this.stepIndex]
    const expected = step?.from === 'caller' && 'form' in step.message ? step.message.form : undefined
    const ids = expected === undefined ? this.ids : this.ids.with(expected, form)
    const differing = differences(expected ?? this.expectation(step), ids.asRecorded(form))
    if (expected === undefined || differing.length > 0) return differing
    this.ids = ids
    this.stepIndex++
    return undefined
  }

  private withCallersIds(frame: RecordedFrame): RecordedFrame {
    return frame.text === undefined ? frame : { ...frame, text: this.ids.asRequested(frame.text) }
  }

  /** Compares audio with that of one or several steps, and releases the upstream's messages between these steps. */
  private matchAudio(audio: Buffer, released: ReleasedFrame[]): readonly Difference[] | undefined {
    let rest = audio
    while (rest.length > 0) {
      for (const one of this.released()) released.push(one)
      const step = this.steps[this.stepIndex]
      if (step?.from !== 'caller' || !('audio' in step.message))
        return differences(this.expectation(step), { audio: `${rest.length} bytes` })
      const expected = step.message.audio.subarray(this.receivedBytes)
      const size = Math.min(expected.length, rest.length)
      if (!expected.subarray(0, size).equals(rest.subarray(0, size)))
        return differences({ audio: 'as recorded' }, { audio: 'other bytes' })
      rest = rest.subarray(size)
      this.receivedBytes = size === expected.length ? 0 : this.receivedBytes + size
      if (this.receivedBytes === 0) this.stepIndex++
    }
    return undefined
  }

  private expectation(step: Step | undefined): JsonObject {
    if (step?.from !== 'caller') return { message: 'none: the recorded session has no further message' }
    return 'form' in step.message
      ? step.message.form
      : { audio: `${step.message.audio.length - this.receivedBytes} bytes` }
  }
}

/** Fields that differ between runs of the same program. */
const IRRELEVANT_FIELDS = new Set(['event_id'])

/**
 * Reads a message of a caller. Turns of Responses are compared as requests, so that spelling does not matter.
 *
 * @param path path of the session.
 */
export function callerMessage(bytes: Buffer, path: string, ignore: readonly string[]): CallerMessage {
  const text = textIn(bytes)
  const value = text === undefined ? undefined : parseObject(text)
  if (value === undefined) return text === undefined ? { audio: bytes } : { form: { text } }
  const { type, audio, ...rest } = value
  if (type === 'input_audio_buffer.append' && typeof audio === 'string') return { audio: Buffer.from(audio, 'base64') }
  if (type === 'response.create' && /\/responses$/.test(path)) {
    const request: RecordedRequest = { method: 'POST', path, headers: {}, body: { json: withoutType(value) } }
    return { form: matchKey(request, ignore).form }
  }
  const comparedFields = Object.fromEntries(
    Object.entries({ type, audio, ...rest }).filter(([name]) => !IRRELEVANT_FIELDS.has(name)),
  )
  return { form: new Redaction(ignore, [], '[ignored]').json(comparedFields as Json) as JsonObject }
}

const withoutType = ({ type: _, ...rest }: JsonObject): JsonObject => rest

/** Redacts a message of a caller as the recorder did. */
export function redactedMessage(bytes: Buffer, redaction: Redaction): Buffer {
  const text = textIn(bytes)
  if (text === undefined) return Buffer.from(redaction.text(bytes.toString('latin1')), 'latin1')
  return Buffer.from(redactedEvents([text], redaction.withSecrets(credentialsInText(text)))[0]!)
}
