import { type CanonicalError, GatewayError } from '../../../canonical/error.ts'
import { rowOf } from '../../../canonical/maps.ts'
import { isObject, type Json, type JsonObject, parseObject, stringIn } from '../../../canonical/node.ts'
import { hasRepeatedFields } from '../../../canonical/repeated-fields.ts'
import { PCM_24K } from '../../../canonical/voice-session.ts'
import { BaseVoiceSession, type SessionParts } from '../../base-voice-session.ts'
import { endOf } from '../../closing.ts'
import { eventFailure } from '../../event-failure.ts'
import type { SessionSocket } from '../../session-socket.ts'
import { type SessionModels, type TranscriptionModel, transcriptionModel } from '../../voice-session.ts'
import { checkCase, exactNames } from '../fields.ts'
import { readError, writeError } from './errors.ts'
import { deltaLength, frameType, isAudio } from './frame-type.ts'
import { settingsOf } from './server-reader.ts'
import { readUsage } from './usage.ts'

export interface RelayOptions extends SessionParts {
  readonly upstream: SessionSocket
  /** Frames that have already been received, starting with `session.created`. */
  readonly first: readonly Buffer[]
  readonly models: SessionModels
  /** Removes all information that identifies the upstream from a value. */
  readonly scrub: <T extends Json>(value: T) => T
  readonly newId: (prefix: string) => string
}

/**
 * Relays frames between a caller and an upstream of the same format. Only the few frames with a model name or usage are
 * parsed and rewritten.
 */
export class Relay extends BaseVoiceSession<RelayOptions> {
  private readonly id: string
  private formats = { input: PCM_24K, output: PCM_24K }
  private transcription: TranscriptionModel | undefined

  constructor(options: RelayOptions) {
    super(options)
    this.id = options.newId('sess')
  }

  override start(): void {
    super.start()
    const { upstream, first } = this.options
    for (const frame of first) this.fromUpstream(frame)
    upstream.listen({
      frame: (data, isBinary) => this.fromUpstream(isBinary ? Buffer.from(data.toString()) : data),
      onDrain: () => this.onDrain(),
      stalled: () => upstream.terminate(),
      closed: (code, reason) => this.ended(endOf(code, reason)),
    })
  }

  protected override fromCaller(data: Buffer): void {
    if (!isAudio(data)) return this.event(data)
    this.meter.hear(BASE64_RATIO * data.length, this.formats.input)
    this.options.upstream.send(data)
  }

  private event(data: Buffer): void {
    const text = data.toString()
    const value = parseObject(text)
    try {
      if (value === undefined) throw NOT_JSON
      checkCase(value, CHECKED_EVENT_FIELDS)
      const renamed = this.options.models.incoming(value)
      // JSON parsers disagree about duplicate fields, so a frame with such fields is rewritten.
      const isSame = renamed === value && !hasRepeatedFields(text, value)
      if (value['type'] === 'response.create') this.responses.request(idOf(value))
      this.options.upstream.send(isSame ? data : JSON.stringify(renamed))
    } catch (thrown) {
      this.fail(eventFailure(thrown, 'invalid-request'), idOf(value))
    }
  }

  private fromUpstream(frame: Buffer): void {
    if (this.isOver) return
    try {
      this.relay(frame)
    } catch (thrown) {
      this.fail(eventFailure(thrown, 'upstream-failed'))
    }
  }

  private relay(frame: Buffer): void {
    const type = frameType(frame)
    if (type === undefined) {
      this.fail(MALFORMED_FRAME)
      return
    }
    this.hasExplained = type === 'error'
    const read = rowOf(READERS, type)
    this.toCaller(read === undefined ? frame : read.call(this, frame))
    if (type === 'response.done') this.stopIfFinished()
    else if (type === TRANSCRIBED) this.stopIfSpent()
  }

  /** Replaces the session's id with the gateway's. Removes a secret that only the upstream accepts. @internal */
  session(frame: Buffer): string | Buffer {
    const value = parseObject(frame.toString())
    const session = value?.['session']
    if (value === undefined || !isObject(session)) return frame
    this.readSession(session)
    const { client_secret: secret, ...fields } = session
    const shown = secret === null ? session : fields
    return JSON.stringify(this.options.models.outgoing({ ...value, session: { ...shown, id: this.id } }))
  }

  /** Remembers the settings on which the usage depends. */
  private readSession(session: JsonObject): void {
    const settings = settingsOf(session)
    this.formats = { input: settings.input?.format ?? PCM_24K, output: settings.output?.format ?? PCM_24K }
    this.transcription = transcriptionModel(settings, this.options.models)
  }

  /** Measures a chunk of a response's audio. @internal */
  audioDelta(frame: Buffer): Buffer {
    this.meter.speak(BASE64_RATIO * deltaLength(frame), this.formats.output)
    return frame
  }

  /** Measures a chunk of a response's text. @internal */
  textDelta(frame: Buffer): Buffer {
    this.meter.write(deltaLength(frame))
    return frame
  }

  /** Counts a response that is starting. @internal */
  responseCreated(frame: Buffer): Buffer {
    const response = parseObject(frame.toString())?.['response']
    this.responseBegan(stringIn(isObject(response) ? response['id'] : undefined))
    return frame
  }

  protected override cancel(response: string): void {
    this.options.upstream.send(JSON.stringify({ type: 'response.cancel', response_id: response }))
  }

  /** Records the usage of a response. Removes all information that identifies the upstream from its error. @internal */
  responseDone(frame: Buffer): string | Buffer {
    const value = parseObject(frame.toString())
    const response = value?.['response']
    if (!isObject(response)) return frame
    const { id, status, status_details: details } = response
    const usage = readUsage(response['usage']) ?? readUsage(value!['usage'])
    this.responseEnded(stringIn(id), usage, status === 'completed')
    if (!isObject(details) || details['error'] == null) return frame
    return JSON.stringify({ ...value, response: { ...response, status_details: this.options.scrub(details) } })
  }

  /** Records the usage of a transcription. @internal */
  transcribed(frame: Buffer): Buffer {
    const { status, usage } = parseObject(frame.toString()) ?? {}
    // xAI sends the event several times.
    if (status !== 'in_progress' && isObject(usage)) {
      const { seconds } = usage
      const length = typeof seconds === 'number' ? seconds : undefined
      this.options.record.recordTranscription(readUsage(usage), this.transcription, length)
    }
    return frame
  }

  /** Removes the requested response that the upstream refused with this error. @internal */
  error(frame: Buffer): string {
    const error = parseObject(frame.toString())?.['error']
    this.responses.refused(idOf(isObject(error) ? error : undefined))
    this.options.record.recordError(readError(error))
    return this.scrub(frame)
  }

  /** Removes all information that identifies the upstream from a frame. @internal */
  scrub(frame: Buffer): string {
    return JSON.stringify(this.options.scrub(parseObject(frame.toString()) ?? {}))
  }

  protected override errorFrames(error: CanonicalError, event?: string): readonly string[] {
    return [JSON.stringify({ type: 'error', event_id: this.options.newId('event'), error: writeError(error, event) })]
  }
}

/** Type of the frame that ends a transcription. */
const TRANSCRIBED = 'conversation.item.input_audio_transcription.completed'

/** Number of bytes per character of base64. */
const BASE64_RATIO = 3 / 4

type FrameReader = (this: Relay, frame: Buffer) => string | Buffer

/** Handlers for the upstream frames that are parsed. */
const READERS: { readonly [type: string]: FrameReader } = {
  'session.created': Relay.prototype.session,
  'session.updated': Relay.prototype.session,
  'transcription_session.created': Relay.prototype.session,
  'transcription_session.updated': Relay.prototype.session,
  'response.created': Relay.prototype.responseCreated,
  'response.done': Relay.prototype.responseDone,
  'response.output_audio.delta': Relay.prototype.audioDelta,
  'response.audio.delta': Relay.prototype.audioDelta,
  'response.output_audio_transcript.delta': Relay.prototype.textDelta,
  'response.audio_transcript.delta': Relay.prototype.textDelta,
  'response.output_text.delta': Relay.prototype.textDelta,
  'response.text.delta': Relay.prototype.textDelta,
  'response.function_call_arguments.delta': Relay.prototype.textDelta,
  [TRANSCRIBED]: Relay.prototype.transcribed,
  'conversation.item.input_audio_transcription.failed': Relay.prototype.scrub,
  error: Relay.prototype.error,
}

const idOf = (value: JsonObject | undefined): string | undefined =>
  typeof value?.['event_id'] === 'string' ? value['event_id'] : undefined

const MALFORMED_FRAME: CanonicalError = {
  kind: 'upstream-failed',
  message: 'The upstream sent a frame that is not a JSON object.',
}
const CHECKED_EVENT_FIELDS = exactNames('type')

const NOT_JSON = new GatewayError({
  kind: 'invalid-request',
  code: 'invalid_json',
  message: 'The frame is not a JSON object.',
})
