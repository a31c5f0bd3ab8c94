import { type CanonicalError, GatewayError } from '../../canonical/error.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import { type Finish, totalUsage, type Usage } from '../../canonical/result.ts'
import type { ConversationItem, ResponseSettings, VoiceSessionSettings } from '../../canonical/voice-session.ts'
import type { Position, ResponseReason, ResponseStatus, ServerEvent } from '../../canonical/voice-session-event.ts'
import type { IdentifiedItem } from '../conversation.ts'
import { type Output, Outputs } from './outputs.ts'
import { Playback } from './playback.ts'
import { conversationRequest, type SpeechSettings } from './requests.ts'
import { type RunOptions, runRequest } from './run.ts'
import { Speaker } from './speaker.ts'

export interface ResponseOptions extends Omit<RunOptions, 'signal'> {
  readonly id: string
  readonly newId: (prefix: string) => string
  readonly models: { readonly conversation: string; readonly speech: string }
  /** Settings of the session, overridden by those of the response. */
  readonly settings: VoiceSessionSettings & Pick<ResponseSettings, 'metadata' | 'detached'>
  readonly conversation: {
    /**
     * Returns the conversation to answer once all transcripts are complete, or undefined if there is nothing to answer.
     */
    items(): Promise<readonly ConversationItem[] | undefined>
    /** Adds an item to the conversation. A spoken item has a `playback`, which is needed for truncation. */
    insert(item: IdentifiedItem, playback: Playback | undefined): Position | undefined
    replace(item: IdentifiedItem): void
    /** Returns true if the conversation has a call with this id. */
    hasCall(id: string): boolean
    /** Returns the usage of earlier requests, such as transcriptions, that this response reports. */
    usage(): readonly Usage[]
  }
  emit(event: ServerEvent): void
  /** Called once, before `response-end`. */
  ended(): void
}

type End = Pick<ServerEvent & { type: 'response-end' }, 'status' | 'reason' | 'error'>

/** A response. Runs the conversation request, streams its text and calls, and speaks each sentence. */
export class Response {
  readonly id: string
  private readonly options: ResponseOptions
  private readonly aborting = new AbortController()
  private readonly outputs: Outputs
  private readonly usages: Usage[] = []
  private readonly isSpoken: boolean
  /** Open outputs, by index of the model's part. */
  private readonly parts = new Map<number, Output>()
  private message: Output | undefined
  private speaker: Speaker | undefined
  private readonly speaking: Promise<void>[] = []
  private usage: Usage | undefined
  private finish: Finish | undefined
  private over = false
  private silent = false

  constructor(options: ResponseOptions) {
    this.options = options
    this.id = options.id
    this.isSpoken = (options.settings.modalities ?? ['audio']).includes('audio')
    this.outputs = new Outputs({
      response: options.id,
      newId: options.newId,
      emit: event => this.emit(event),
      insert: (item, playback) => options.conversation.insert(item, playback),
      replace: item => options.conversation.replace(item),
    })
  }

  /** Ids of the calls so far. */
  get calls(): readonly string[] {
    return this.outputs.calls
  }

  start(): void {
    const { metadata, detached } = this.options.settings
    const modalities = [this.isSpoken ? 'audio' : 'text'] as const
    this.emit({
      type: 'response-start',
      response: this.id,
      modalities,
      ...(metadata === undefined ? {} : { metadata }),
      ...(detached === true ? { detached } : {}),
    })
    this.work().then(
      () => this.complete(),
      thrown => this.fail(errorOf(thrown)),
    )
  }

  /** Cancels the response and aborts its requests. */
  cancel(reason: ResponseReason): void {
    this.end('incomplete', { status: 'cancelled', reason })
  }

  /** Aborts the response without emitting an event. */
  abandon(): void {
    this.over = this.silent = true
    this.aborting.abort()
  }

  private async work(): Promise<void> {
    const { models, settings, conversation } = this.options
    const items = await conversation.items()
    if (this.over || items === undefined) return
    const request = conversationRequest(models.conversation, settings, items)
    await runRequest(request, this.running, event => this.take(event))
    this.endMessage()
    await Promise.all(this.speaking)
  }

  private get running(): RunOptions {
    const { run, gate } = this.options
    return { run, gate, signal: this.aborting.signal }
  }

  private take(event: CanonicalEvent): void {
    if ('at' in event && event.at.candidate !== 0) return
    switch (event.type) {
      case 'part-start':
        this.startPart(event.at.part, event)
        break
      case 'part-delta':
        if (event.of === undefined) this.append(event.at.part, event.append)
        break
      case 'part-end':
        this.endPart(event.at.part)
        break
      case 'candidate-end':
        this.finish = event.finish
        break
      case 'usage':
        this.usage = event.usage
        break
    }
  }

  private startPart(index: number, { part }: CanonicalEvent & { type: 'part-start' }): void {
    if (part.type === 'text' || part.type === 'refusal') {
      this.parts.set(index, (this.message ??= this.startMessage()))
      this.append(index, part.text)
    } else if (part.type === 'tool-call') {
      this.endMessage()
      const call = { id: this.callId(part.id), name: part.name }
      this.parts.set(index, this.outputs.startOutput({ kind: 'call', call }))
      this.append(index, part.arguments)
    }
  }

  /** Returns a call's id, or a new one if the model has used it before: results of both may be outstanding. */
  private callId(id: string): string {
    const { conversation, newId } = this.options
    return conversation.hasCall(id) ? newId('call') : id
  }

  private append(index: number, text: string): void {
    const output = this.parts.get(index)
    if (output === undefined || this.over) return
    this.outputs.append(output, text)
    if (output.kind === 'audio') this.speaker?.push(text)
  }

  private endPart(index: number): void {
    const output = this.parts.get(index)
    this.parts.delete(index)
    if (output?.kind === 'call') this.outputs.end(output, 'completed')
  }

  private startMessage(): Output {
    if (!this.isSpoken) return this.outputs.startOutput({ kind: 'text' })
    const { models, settings } = this.options
    const playback = new Playback()
    const output = this.outputs.startOutput({ kind: 'audio', playback })
    this.speaker = new Speaker({
      ...this.running,
      model: models.speech,
      settings: speechSettings(settings),
      after: this.speaking.at(-1),
      listener: {
        sentence: text => playback.startSentence(text),
        audio: bytes => {
          playback.sent(bytes.length)
          this.outputs.audio(output, bytes)
        },
        spoken: () => playback.end(),
        usage: usage => this.usages.push(usage),
      },
    })
    this.speaker.failed.catch(thrown => this.fail(errorOf(thrown)))
    return output
  }

  /** Ends the message. Its speech may still be running. */
  private endMessage(): void {
    const { message, speaker } = this
    this.message = this.speaker = undefined
    if (message === undefined || this.over) return
    const onSpeechEnd = (): void => this.outputs.end(message, this.status === 'completed' ? 'completed' : 'incomplete')
    if (speaker === undefined) onSpeechEnd()
    else this.speaking.push(markHandled(speaker.end().then(onSpeechEnd)))
  }

  private get status(): ResponseStatus {
    return FINISHES[this.finish?.reason ?? 'stop']?.status ?? 'completed'
  }

  private complete(): void {
    const end = FINISHES[this.finish?.reason ?? 'stop'] ?? { status: 'completed' }
    this.end(end.status === 'completed' ? 'completed' : 'incomplete', end)
  }

  private fail(error: CanonicalError): void {
    this.end('incomplete', { status: 'failed', error })
  }

  private end(status: 'completed' | 'incomplete', end: End): void {
    if (this.over) return
    this.over = true
    this.aborting.abort()
    this.outputs.endAll(status)
    const usage = totalUsage([
      ...this.options.conversation.usage(),
      ...this.usages,
      ...(this.usage ? [this.usage] : []),
    ])
    this.options.ended()
    this.emit({
      type: 'response-end',
      response: this.id,
      ...end,
      ...(usage === undefined ? {} : { usage: countsOnly(usage) }),
    })
  }

  private emit(event: ServerEvent): void {
    if (!this.silent) this.options.emit(event)
  }
}

/** Ends of responses by finish reason, for models that stopped before completion. */
const FINISHES: { readonly [reason: string]: End } = {
  length: { status: 'incomplete', reason: 'max_output_tokens' },
  refused: { status: 'incomplete', reason: 'content_filter' },
}

/** Marks a promise as handled, because its rejection is examined only later. */
function markHandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

const speechSettings = ({ output }: VoiceSessionSettings): SpeechSettings => ({
  ...(output?.voice === undefined ? {} : { voice: output.voice }),
  ...(output?.speed === undefined || output.speed === 1 ? {} : { speed: output.speed }),
})

/** Returns only the token counts, without upstream-specific fields. */
const countsOnly = ({ extras: _, spelling: __, ...counts }: Usage): Usage => counts

const errorOf = (thrown: unknown): CanonicalError =>
  thrown instanceof GatewayError ? thrown.error : { kind: 'internal', message: 'The response could not be created.' }
