import { putNewest } from '../canonical/bounded-map.ts'
import type { MediaPart, Part } from '../canonical/content.ts'
import type { Loss } from '../canonical/loss.ts'
import {
  type AudioFormat,
  type ConversationItem,
  isSameAudioFormat,
  type ResponseSettings,
  type VoiceSessionSettings,
} from '../canonical/voice-session.ts'
import type { ClientEvent, OutputPosition, ServerEvent } from '../canonical/voice-session-event.ts'
import type { AudioConverter } from './audio/converter.ts'
import { MAX_RUNNING } from './limits.ts'
import type { UpstreamAudio } from './upstream.ts'

export interface AudioPathOptions {
  /** The caller's initial formats, which a `session-update` may change. */
  readonly caller: { readonly input: AudioFormat; readonly output: AudioFormat }
  readonly upstream: UpstreamAudio
  /** Opens a converter between two different formats. */
  open(from: AudioFormat, to: AudioFormat): Promise<AudioConverter>
}

/** Audio of one item on its way to the caller. `at` is the position at which it began. */
interface OutgoingStream {
  readonly at: OutputPosition
  readonly converter: AudioConverter
  /** True from an interruption until more audio arrives. Callers drop what they have not played at an interruption. */
  isInterrupted: boolean
}

/** Returns true if the event may change the caller's audio formats. */
export const isFormatChange = (event: ClientEvent): boolean =>
  event.type === 'session-update' &&
  (event.settings.input?.format !== undefined || event.settings.output?.format !== undefined)

/** Converts the audio between a caller and an upstream, so that each side sees only its own formats. */
export class AudioPath {
  private readonly options: AudioPathOptions
  private input: AudioFormat
  private output: AudioFormat
  /** Converter of the caller's audio, or undefined if both sides use the same format. */
  private incomingConverter: AudioConverter | undefined
  private outgoingConverter: AudioConverter | undefined
  /** Streams of the items whose audio is arriving, by item. Each one has a fork of `outgoingConverter`. */
  private readonly streams = new Map<string, OutgoingStream>()
  private closed = false

  private constructor(options: AudioPathOptions) {
    this.options = options
    this.input = options.caller.input
    this.output = options.caller.output
  }

  static async open(options: AudioPathOptions): Promise<AudioPath> {
    const path = new AudioPath(options)
    await path.setFormats(path.input, path.output)
    return path
  }

  /**
   * Opens the converters for the audio formats of a `session-update`. If a format cannot be converted, rejects and
   * changes neither format.
   */
  async change(event: ClientEvent): Promise<void> {
    if (event.type !== 'session-update') return
    const { input, output } = event.settings
    await this.setFormats(changedFormat(input?.format, this.input), changedFormat(output?.format, this.output))
  }

  /**
   * Converts a caller's event for the upstream. Before a commit, the audio that the converter still buffers is sent.
   */
  incoming(event: ClientEvent): readonly ClientEvent[] {
    switch (event.type) {
      case 'audio-append': {
        if (this.incomingConverter === undefined) return [event]
        const audio = this.incomingConverter.push(event.audio)
        return audio.length === 0 ? [] : [{ ...event, audio }]
      }
      case 'audio-commit': {
        const rest = this.incomingConverter?.flush()
        return rest === undefined || rest.length === 0 ? [event] : [{ type: 'audio-append', audio: rest }, event]
      }
      case 'audio-clear':
        this.incomingConverter?.reset()
        return [event]
      case 'session-update':
        return [{ ...event, settings: this.forUpstream(event.settings) }]
      case 'item-create':
        return this.withRecordings(event, [event.item], ([item]) => ({ ...event, item: item! }))
      case 'response-cancel':
        this.interrupt()
        return [event]
      case 'response-create': {
        const { settings } = event
        const { context = [] } = settings ?? {}
        const sent = settings === undefined ? event : { ...event, settings: this.withoutFormat(settings) }
        return this.withRecordings(sent, context, items => ({
          ...sent,
          settings: { ...sent.settings, context: items },
        }))
      }
      default:
        return [event]
    }
  }

  /** Returns the losses of an event: a response keeps the output format of the session, unless the upstream changes it. */
  losses(event: ClientEvent): readonly Loss[] {
    if (event.type !== 'response-create') return NO_LOSS
    const format = event.settings?.output?.format
    const isKept = format === undefined || isSameAudioFormat(format, this.output) || this.isLeftToUpstream
    return isKept ? NO_LOSS : FORMAT_LOSS
  }

  /** True if the upstream converts a response's audio, because nothing is converted here. */
  private get isLeftToUpstream(): boolean {
    return this.outgoingConverter === undefined && this.options.upstream.variesByResponse === true
  }

  /** Removes the output format from a response's settings, unless the upstream converts the response. */
  private withoutFormat(settings: ResponseSettings): ResponseSettings {
    if (settings.output?.format === undefined || this.isLeftToUpstream) return settings
    const { format: _, ...output } = settings.output
    return { ...settings, output }
  }

  /**
   * Converts an upstream's event for the caller. Before the end of a part, the audio that the converter still buffers
   * is sent, unless the part was interrupted.
   */
  outgoing(event: ServerEvent): readonly ServerEvent[] {
    switch (event.type) {
      case 'audio-delta': {
        if (this.outgoingConverter === undefined) return [event]
        const stream = this.streamAt(event.at, this.outgoingConverter)
        stream.isInterrupted = false
        const audio = stream.converter.push(event.audio)
        return audio.length === 0 ? [] : [{ ...event, audio }]
      }
      case 'part-end':
        return [...this.rest(({ item }) => item === event.at.item), event]
      case 'output-end':
        return [...this.rest(({ item }) => item === event.item), event]
      case 'response-end': {
        const rest = this.rest(({ response }) => response === event.response)
        return event.status === 'completed' ? [...rest, event] : [event]
      }
      case 'speech-started':
        this.interrupt()
        return [event]
      case 'session-created':
      case 'session-updated':
        return [{ ...event, settings: this.forCaller(event.settings) }]
      default:
        return [event]
    }
  }

  close(): void {
    this.closed = true
    this.incomingConverter?.close()
    this.closeOutgoing()
  }

  /** Returns the stream of an item's audio. Several responses may speak at once. */
  private streamAt(at: OutputPosition, converter: AudioConverter): OutgoingStream {
    const known = this.streams.get(at.item)
    if (known !== undefined) return known
    const stream = { at, converter: converter.fork(), isInterrupted: false }
    putNewest(this.streams, at.item, stream, MAX_RUNNING)
    return stream
  }

  private interrupt(): void {
    for (const stream of this.streams.values()) stream.isInterrupted = true
  }

  /** Ends streams, and returns the audio that their converters still buffer. */
  private rest(ends: (at: OutputPosition) => boolean): ServerEvent[] {
    const events: ServerEvent[] = []
    for (const [item, { at, converter, isInterrupted }] of this.streams) {
      if (!ends(at)) continue
      this.streams.delete(item)
      const audio = converter.flush()
      converter.close()
      if (audio.length > 0 && !isInterrupted) events.push({ type: 'audio-delta', at, audio })
    }
    return events
  }

  private closeOutgoing(): void {
    this.outgoingConverter?.close()
    for (const { converter } of this.streams.values()) converter.close()
    this.streams.clear()
  }

  /** Opens the converters for both formats, then changes both together. An undefined format remains unchanged. */
  private async setFormats(input: AudioFormat | undefined, output: AudioFormat | undefined): Promise<void> {
    const { upstream } = this.options
    const incoming = input && (await this.converter(input, upstream.input))
    let outgoing: AudioConverter | undefined
    try {
      outgoing = output && (await this.converter(upstream.output, output))
    } catch (thrown) {
      incoming?.close()
      throw thrown
    }
    if (input !== undefined) this.setInput(input, incoming)
    if (output !== undefined) this.setOutput(output, outgoing)
    if (this.closed) this.close()
  }

  private setInput(format: AudioFormat, converter: AudioConverter | undefined): void {
    this.incomingConverter?.close()
    this.incomingConverter = converter
    this.input = format
  }

  private setOutput(format: AudioFormat, converter: AudioConverter | undefined): void {
    this.closeOutgoing()
    this.outgoingConverter = converter
    this.output = format
  }

  private async converter(from: AudioFormat, to: AudioFormat): Promise<AudioConverter | undefined> {
    return isSameAudioFormat(from, to) ? undefined : this.options.open(from, to)
  }

  private forUpstream(settings: VoiceSessionSettings): VoiceSessionSettings {
    const { input, output } = this.options.upstream
    return withFormats(settings, {
      ...(settings.input?.format === undefined ? {} : { input }),
      ...(settings.output?.format === undefined ? {} : { output }),
    })
  }

  private forCaller(settings: VoiceSessionSettings): VoiceSessionSettings {
    return withFormats(settings, { input: this.input, output: this.output })
  }

  /**
   * Converts the recordings in an event's items, after flushing the audio before them, because the converter handles
   * only one stream at a time.
   */
  private withRecordings(
    event: ClientEvent,
    items: readonly ConversationItem[],
    replaced: (items: readonly ConversationItem[]) => ClientEvent,
  ): readonly ClientEvent[] {
    if (this.incomingConverter === undefined || !items.some(({ content }) => content.some(isAudio))) return [event]
    const rest = this.incomingConverter.flush()
    const converted = replaced(items.map(item => this.item(item)))
    return rest.length === 0 ? [converted] : [{ type: 'audio-append', audio: rest }, converted]
  }

  /** Converts the audio parts of an item in one pass, because each part holds a complete recording. */
  private item(item: ConversationItem): ConversationItem {
    return { ...item, content: item.content.map(part => this.part(part)) }
  }

  private part(part: Part): Part {
    if (!isAudio(part)) return part
    const converter = this.incomingConverter!
    const bytes = Buffer.from(part.source.data, 'base64')
    const audio = Buffer.concat([converter.push(bytes), converter.flush()])
    const mediaType = `audio/pcm;rate=${this.options.upstream.input.rate}`
    return { ...part, source: { type: 'base64', mediaType, data: audio.toString('base64') } }
  }
}

const NO_LOSS: readonly Loss[] = []
const FORMAT_LOSS: readonly Loss[] = [
  { kind: 'dropped', path: ['settings', 'output', 'format'], reason: 'settings-of-the-session' },
]

/** Returns the new format, or undefined if it is missing or equal to the current one. */
const changedFormat = (format: AudioFormat | undefined, current: AudioFormat): AudioFormat | undefined =>
  format === undefined || isSameAudioFormat(format, current) ? undefined : format

const isAudio = (
  part: Part,
): part is MediaPart & { readonly source: { readonly type: 'base64'; readonly data: string } } =>
  part.type === 'media' && part.kind === 'audio' && part.source.type === 'base64'

function withFormats(
  settings: VoiceSessionSettings,
  { input, output }: { readonly input?: AudioFormat; readonly output?: AudioFormat },
): VoiceSessionSettings {
  return {
    ...settings,
    ...(input === undefined ? {} : { input: { ...settings.input, format: input } }),
    ...(output === undefined ? {} : { output: { ...settings.output, format: output } }),
  }
}
