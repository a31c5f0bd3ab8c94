import type { CanonicalError, GatewayError } from '../../canonical/error.ts'
import type { Usage } from '../../canonical/result.ts'
import type { ConversationItem, InputTranscription } from '../../canonical/voice-session.ts'
import type { ServerEvent } from '../../canonical/voice-session-event.ts'
import type { RunRequest } from '../upstream.ts'
import type { Gate } from './gate.ts'
import { BYTES_PER_MS } from './input-audio.ts'
import type { Items } from './items.ts'
import { transcriptionRequest } from './requests.ts'
import { runRequest } from './run.ts'

export interface TranscriptsOptions {
  readonly run: RunRequest
  readonly model: string
  readonly gate: Gate
  readonly items: Items
  emit(event: ServerEvent): void
  /** Called when audio has left the queue. */
  onDrain(): void
}

interface Recording {
  readonly item: string
  readonly part: number
  /** Recording as PCM16 at 16 kHz. */
  readonly audio: Uint8Array
  /** The client's transcription settings. Without them, the client gets no transcript events. */
  readonly wanted: InputTranscription | undefined
}

/** A recording that is still being transcribed or queued. */
interface Pending extends Recording {
  readonly done: PromiseWithResolvers<void>
}

/** Maximum number of concurrent transcriptions. Further transcriptions are queued. */
const MAX_CONCURRENT = 4

/** Transcribes the audio of a conversation, whose items contain the transcripts instead of the audio. */
export class Transcripts {
  /** Bytes of audio queued for transcription. */
  waitingBytes = 0
  private readonly options: TranscriptsOptions
  private readonly aborting = new AbortController()
  private waiting: Pending[] = []
  private readonly pending = new Map<string, Pending>()
  private readonly failures = new Map<string, CanonicalError>()
  private running = 0
  private unreported: Usage[] = []

  constructor(options: TranscriptsOptions) {
    this.options = options
  }

  start(recording: Recording): void {
    const one = { ...recording, done: Promise.withResolvers<void>() }
    this.pending.set(keyOf(recording), one)
    this.waiting.push(one)
    this.waitingBytes += recording.audio.length
    this.advance()
  }

  /** Resolves when no transcription of these items is pending. */
  async settled(items: readonly ConversationItem[]): Promise<void> {
    for (const { id = '', content } of items)
      for (const part of content.keys()) await this.pending.get(keyOf({ item: id, part }))?.done.promise
  }

  /** Returns the error of an item whose transcription failed. */
  failure({ id = '' }: ConversationItem): CanonicalError | undefined {
    return this.failures.get(id)
  }

  /**
   * Drops the transcriptions of a deleted item. Queued transcriptions are not started, and nothing waits for running
   * ones.
   */
  forget(item: string): void {
    this.failures.delete(item)
    for (const one of this.pending.values()) if (one.item === item) this.settle(one)
    this.waiting = this.waiting.filter(one => one.item !== item)
    this.waitingBytes = this.waiting.reduce((sum, { audio }) => sum + audio.length, 0)
    this.options.onDrain()
  }

  /** Returns and clears the usage of transcriptions that no event has reported yet. */
  takeUsage(): readonly Usage[] {
    const { unreported } = this
    this.unreported = []
    return unreported
  }

  close(): void {
    this.aborting.abort()
    this.waiting.length = this.waitingBytes = 0
    for (const one of this.pending.values()) this.settle(one)
  }

  private advance(): void {
    while (this.running < MAX_CONCURRENT && this.waiting.length > 0) {
      const recording = this.waiting.shift()!
      this.waitingBytes -= recording.audio.length
      this.options.onDrain()
      this.running++
      void this.transcribe(recording).finally(() => {
        this.running--
        this.settle(recording)
        this.advance()
      })
    }
  }

  private settle(one: Pending): void {
    one.done.resolve()
    if (this.isWanted(one)) this.pending.delete(keyOf(one))
  }

  /** Returns true if the transcript is still needed. Its item may have been deleted, and the id reused. */
  private isWanted(one: Pending): boolean {
    return this.pending.get(keyOf(one)) === one
  }

  private async transcribe(recording: Pending): Promise<void> {
    const { item, part, audio, wanted } = recording
    const { run, model, gate, emit } = this.options
    const { signal } = this.aborting
    let text = ''
    let usage: Usage | undefined
    try {
      await runRequest(transcriptionRequest(model, audio, wanted), { run, signal, gate }, event => {
        if (event.type === 'usage') usage = event.usage
        if (event.type !== 'part-delta') return
        text += event.append
        if (wanted !== undefined && this.isWanted(recording))
          emit({ type: 'input-transcript-delta', item, part, text: event.append })
      })
    } catch (thrown) {
      if (this.isWanted(recording)) this.fail(recording, (thrown as GatewayError).error)
      return
    }
    if (signal.aborted) return
    if (!this.isWanted(recording)) return this.addUsage(usage)
    this.setTranscript(item, part, text.trim())
    if (wanted === undefined) this.addUsage(usage)
    else emit({ type: 'input-transcript-done', item, part, text, ...costOf(usage, audio) })
  }

  private fail({ item, part, wanted }: Recording, error: CanonicalError): void {
    this.failures.set(item, error)
    this.options.emit(
      wanted === undefined ? { type: 'error', error } : { type: 'input-transcript-failed', item, part, error },
    )
  }

  private setTranscript(id: string, part: number, transcript: string): void {
    const { items } = this.options
    const item = items.conversation.get(id)
    if (item === undefined) return
    const content = item.content.map((one, index) =>
      index === part && one.type === 'media' ? { ...one, transcript } : one,
    )
    items.replace({ ...item, content })
  }

  private addUsage(usage: Usage | undefined): void {
    if (usage !== undefined) this.unreported.push(usage)
  }
}

/** Returns the token counts if the upstream reports them, otherwise the duration in seconds. */
const costOf = (usage: Usage | undefined, audio: Uint8Array): { usage?: Usage; seconds?: number } => {
  const { extras: _, spelling: __, ...counts } = usage ?? {}
  return Object.keys(counts).length > 0 ? { usage: counts } : { seconds: audio.length / BYTES_PER_MS / 1000 }
}

const keyOf = ({ item, part }: Pick<Recording, 'item' | 'part'>): string => `${part} ${item}`
