import type { CanonicalError } from '../../canonical/error.ts'
import type { Loss } from '../../canonical/loss.ts'
import { PCM_16K, PCM_24K, type ResponseSettings, type VoiceSessionSettings } from '../../canonical/voice-session.ts'
import type { ClientEvent, ServerEvent } from '../../canonical/voice-session-event.ts'
import { errorEvent } from '../conversation.ts'
import { mergeSettings } from '../settings.ts'
import type { RunRequest, Upstream, UpstreamOptions } from '../upstream.ts'
import { Gate } from './gate.ts'
import { InputAudio, MIN_MS } from './input-audio.ts'
import { Items } from './items.ts'
import { lossesOf } from './losses.ts'
import { Responses } from './responses.ts'
import { Transcripts } from './transcripts.ts'
import { openVoiceActivity, type VoiceActivity } from './vad.ts'

export interface CascadeOptions extends UpstreamOptions {
  readonly run: RunRequest
  /** Public ids of the models that transcribe, answer and speak. */
  readonly models: { readonly transcription: string; readonly conversation: string; readonly speech: string }
  readonly voice?: string
}

/**
 * Opens a voice session that consists of separate requests: each turn is transcribed, answered and spoken. The first
 * event is emitted in a microtask.
 */
export async function openCascade(options: CascadeOptions): Promise<Upstream> {
  return new Cascade(options, await openVoiceActivity())
}

type Handlers = {
  readonly [T in ClientEvent['type']]: (event: Extract<ClientEvent, { readonly type: T }>) => void
}

class Cascade implements Upstream {
  readonly audio = { input: PCM_16K, output: PCM_24K }
  /** Resolved from the start, because a cascade has no connection. */
  readonly closed = Promise.resolve()
  private readonly options: CascadeOptions
  private readonly gate = new Gate()
  private readonly items: Items
  private readonly input: InputAudio
  private readonly transcripts: Transcripts
  private readonly responses: Responses
  private settings: VoiceSessionSettings
  /** Id of the future item for the current speech. */
  private speech: string | undefined
  private over = false

  constructor(options: CascadeOptions, activity: VoiceActivity) {
    const { run, models, newId } = options
    const emit = (event: ServerEvent): void => this.emit(event)
    this.options = options
    this.settings = withDefaults(options)
    this.items = new Items(newId)
    this.transcripts = new Transcripts({
      ...{ run, emit, gate: this.gate },
      model: models.transcription,
      items: this.items,
      onDrain: () => options.listener.onDrain(),
    })
    this.responses = new Responses({
      ...{ run, models, newId, emit, gate: this.gate },
      items: this.items,
      transcripts: this.transcripts,
    })
    this.input = new InputAudio(activity, {
      started: atMs => this.speechStarted(atMs),
      stopped: (atMs, audio) => this.speechStopped(atMs, audio),
    })
    this.detect()
    queueMicrotask(() => emit({ type: 'session-created', settings: this.settings }))
  }

  losses(event: ClientEvent): readonly Loss[] {
    return lossesOf(event, this.options.models.transcription)
  }

  send(event: ClientEvent): void {
    if (!this.over) (this.handlers[event.type] as (event: ClientEvent) => void)(event)
  }

  get buffered(): number {
    return this.transcripts.waitingBytes
  }

  pause(): void {
    this.gate.close()
  }

  resume(): void {
    this.gate.open()
  }

  close(): void {
    if (this.over) return
    this.over = true
    this.responses.close()
    this.transcripts.close()
    this.input.close()
    this.gate.open()
  }

  terminate(): void {
    this.close()
  }

  private readonly handlers: Handlers = {
    'session-update': ({ settings }) => this.update(settings),
    'audio-append': ({ audio, id }) => {
      if (!this.input.append(audio)) this.emit(errorEvent(BUFFER_FULL, id))
    },
    'audio-commit': ({ id }) => this.commitInput(id),
    'audio-clear': () => {
      this.input.clear()
      this.speech = undefined
      this.emit({ type: 'audio-cleared' })
    },
    'output-clear': ({ id }) => this.emit(errorEvent(NO_OUTPUT_BUFFER, id)),
    'item-create': event => this.createItem(event),
    'item-retrieve': ({ item, id }) => this.emitAll(this.items.conversation.retrieve(item, id)),
    'item-delete': ({ item, id }) => {
      this.transcripts.forget(item)
      this.emitAll(this.items.delete(item, id))
    },
    'item-truncate': ({ item, part, audioEndMs, id }) => this.emit(this.items.truncate(item, part, audioEndMs, id)),
    'response-create': ({ settings, id }) => this.createResponse(settings, id),
    'response-cancel': ({ response, id }) => {
      if (!this.responses.cancel(response, 'client_cancelled')) this.emit(errorEvent(NO_ACTIVE_RESPONSE, id))
    },
    opaque: ({ id }) => this.emit(errorEvent(UNKNOWN_EVENT, id)),
  }

  private update(change: VoiceSessionSettings): void {
    this.settings = mergeSettings(this.settings, change)
    this.detect()
    this.emit({ type: 'session-updated', settings: this.settings })
  }

  private detect(): void {
    const detection = this.settings.input?.turnDetection ?? null
    this.input.detect(detection)
    if (detection === null) this.speech = undefined
  }

  private speechStarted(atMs: number): void {
    this.speech = this.options.newId('item')
    this.emit({ type: 'speech-started', item: this.speech, atMs })
    if (this.settings.input?.turnDetection?.interrupt !== false) this.responses.interrupt()
  }

  private speechStopped(atMs: number, audio: Uint8Array): void {
    const item = this.speech ?? this.options.newId('item')
    this.emit({ type: 'speech-stopped', item, atMs })
    this.commit(item, audio)
    if (this.settings.input?.turnDetection?.respond !== false && !this.isTranscription)
      this.responses.respondToTurn(this.settings)
  }

  private commitInput(event: string | undefined): void {
    const audio = this.input.commit()
    if (audio === undefined) this.emit(errorEvent(AUDIO_TOO_SHORT, event))
    else this.commit(this.speech ?? this.options.newId('item'), audio)
  }

  /** Creates an item from committed audio and starts its transcription. */
  private commit(id: string, audio: Uint8Array): void {
    this.speech = undefined
    const source = { type: 'base64', mediaType: 'audio/pcm;rate=16000', data: '' } as const
    const content = [{ type: 'media', kind: 'audio', source } as const]
    const item = { id, role: 'user', content, status: 'completed' } as const
    const after = this.items.insert(item)
    if (after === undefined) return this.emit(errorEvent(TOO_MANY_ITEMS, undefined))
    this.emit({ type: 'audio-committed', item: id, after })
    this.emit({ type: 'item-added', item, after })
    this.emit({ type: 'item-done', item, after })
    if (!this.over)
      this.transcripts.start({ item: id, part: 0, audio, wanted: this.settings.input?.transcription ?? undefined })
  }

  private createItem({ item, after, id }: Extract<ClientEvent, { type: 'item-create' }>): void {
    const { events, recordings } = this.items.create(item, after, id)
    this.emitAll(events)
    const [added] = events
    if (added?.type !== 'item-added' || this.over) return
    const wanted = this.settings.input?.transcription ?? undefined
    for (const recording of recordings) this.transcripts.start({ ...recording, item: added.item.id!, wanted })
  }

  private createResponse(settings: ResponseSettings | undefined, event: string | undefined): void {
    if (this.isTranscription) return this.emit(errorEvent(TRANSCRIPTION_ONLY, event))
    const error = this.responses.create(mergeSettings(this.settings as ResponseSettings, settings ?? {}))
    if (error !== undefined) this.emit(errorEvent(error, event))
  }

  private get isTranscription(): boolean {
    return this.settings.purpose === 'transcription'
  }

  private emitAll(events: readonly ServerEvent[]): void {
    for (const event of events) this.emit(event)
  }

  private emit(event: ServerEvent): void {
    if (!this.over) this.options.listener.event(event)
  }
}

const withDefaults = ({ settings, voice, model }: CascadeOptions): VoiceSessionSettings =>
  mergeSettings<VoiceSessionSettings>(
    {
      model,
      modalities: ['audio'],
      input: { format: PCM_16K, turnDetection: { type: 'silence' } },
      output: { format: PCM_24K, ...(voice === undefined ? {} : { voice }) },
    },
    settings,
  )

const invalid = (code: string, message: string): CanonicalError => ({ kind: 'invalid-request', code, message })

const BUFFER_FULL = invalid('input_audio_buffer_full', 'The input audio buffer is full: commit or clear it.')
const AUDIO_TOO_SHORT = invalid(
  'input_audio_buffer_commit_empty',
  `The input audio buffer holds less than ${MIN_MS} milliseconds of audio.`,
)
const TOO_MANY_ITEMS = invalid('conversation_too_large', 'The conversation has too many items.')
const NO_ACTIVE_RESPONSE = invalid('response_cancel_not_active', 'There is no active response to cancel.')
const NO_OUTPUT_BUFFER = invalid('invalid_event', 'There is no output audio buffer in sessions over WebSockets.')
const UNKNOWN_EVENT = invalid('invalid_event', 'This event is not supported.')
const TRANSCRIPTION_ONLY = invalid('invalid_event', 'A transcription session has no responses.')
