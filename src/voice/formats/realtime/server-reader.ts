import { putNewest } from '../../../canonical/bounded-map.ts'
import { rowOf } from '../../../canonical/maps.ts'
import { defined, isObject, type Json, type JsonObject, parseObject, stringIn } from '../../../canonical/node.ts'
import { type ConversationItem, PCM_24K, type VoiceSessionSettings } from '../../../canonical/voice-session.ts'
import type {
  OutputPosition,
  Position,
  ResponseReason,
  ResponseStatus,
  ServerEvent,
  VoiceRateLimit,
} from '../../../canonical/voice-session-event.ts'
import { MAX_RUNNING } from '../../limits.ts'
import type { RealtimeDialect } from './dialect.ts'
import { readError } from './errors.ts'
import { readItem } from './items.ts'
import { readSettings } from './settings-reader.ts'
import { readUsage } from './usage.ts'
import { canonicalModalities, gaName, mediaTypeOf, REALTIME } from './wire.ts'

/** Maximum number of items whose state is tracked. Beyond it, the oldest item is dropped. */
const MAX_TRACKED = 1000

/**
 * Reads an upstream's frames, with GA or beta event names. If a complete text follows its deltas, only the remainder
 * that the deltas lacked is emitted.
 */
export class ServerReader {
  private readonly dialect: RealtimeDialect
  /**
   * Output index of each item in the open responses. The index is counted here, because xAI sends index 0 for every
   * item. The items' `added` and `done` events are skipped, because they duplicate the `output_item` events.
   */
  private readonly outputs = new Map<string, number>()
  /** Number of items of each open response. */
  private readonly counts = new Map<string, number>()
  /** Number of characters received so far for each text, transcript or arguments, by open response. */
  private readonly lengths = new Map<string, Map<string, number>>()
  /** Transcripts of the user's speech so far. Needed for upstreams that repeat the entire transcript. */
  private readonly transcripts = new Map<string, string>()

  constructor(dialect: RealtimeDialect) {
    this.dialect = dialect
  }

  /** Reads the events of one frame. Never throws. */
  read(frame: string): readonly ServerEvent[] {
    const value = parseObject(frame)
    if (value === undefined) return [failure('The upstream sent a frame that is not a JSON object.')]
    const name = gaName(stringIn(value['type']))
    const read = rowOf(EVENTS, name)
    if (read === undefined) return [{ type: 'opaque', format: REALTIME, value }]
    try {
      return read.call(this, value)
    } catch {
      return [failure(`The upstream sent a malformed ${name}.`)]
    }
  }

  /** Adds an item outside any response. `isDone` means that no later event completes the item. */
  added(value: JsonObject, isDone: boolean): ServerEvent[] {
    const item = itemOf(value['item'])
    if (this.outputs.has(item.id!)) return []
    const about = { item, ...this.afterOf(value) }
    const added: ServerEvent = { type: 'item-added', ...about }
    return isDone ? [added, { type: 'item-done', ...about, item: ended(item) }] : [added]
  }

  itemAdded(value: JsonObject): ServerEvent[] {
    return this.added(value, !this.dialect.itemDone)
  }

  itemDone(value: JsonObject): ServerEvent[] {
    const item = itemOf(value['item'])
    if (!this.dialect.itemDone || this.outputs.has(item.id!)) return []
    return [{ type: 'item-done', item, ...this.afterOf(value) }]
  }

  /** Returns the place that a frame states. xAI states none as null, which is the start of a conversation elsewhere. */
  private afterOf({ previous_item_id: id }: JsonObject): { readonly after?: Position } {
    if (typeof id === 'string') return { after: id }
    return id === null && this.dialect.layout !== 'mixed' ? { after: null } : {}
  }

  committed(value: JsonObject): ServerEvent[] {
    return [{ type: 'audio-committed', item: stringIn(value['item_id']), ...this.afterOf(value) }]
  }

  outputAdded(value: JsonObject): ServerEvent[] {
    const { status: _, ...item } = itemOf(value['item'])
    const id = item.id!
    const response = stringIn(value['response_id'])
    const output = this.counts.get(response) ?? 0
    this.counts.set(response, output + 1)
    this.outputs.set(id, output)
    for (const map of [this.outputs, this.counts]) if (map.size > MAX_TRACKED) map.delete(map.keys().next().value!)
    const [call] = item.content
    const start = { type: 'output-start' as const, response, output }
    if (call?.type !== 'tool-call') return [{ ...start, item: { ...item, id, content: item.content } }]
    const at = { response, item: id, output, part: 0 }
    const empty = { ...item, id, content: [{ ...call, arguments: '' }] }
    const started: ServerEvent[] = [{ ...start, item: empty }]
    return call.arguments === '' ? started : [...started, ...this.delta('arguments-delta', at, call.arguments)]
  }

  at(value: JsonObject): OutputPosition {
    const item = stringIn(value['item_id'])
    return {
      response: stringIn(value['response_id']),
      item,
      output: this.outputs.get(item) ?? nonNegative(value['output_index']),
      part: nonNegative(value['content_index']),
    }
  }

  /** Returns a delta event, and counts its characters for the comparison with the complete text that follows. */
  delta(type: 'text-delta' | 'transcript-delta' | 'arguments-delta', at: OutputPosition, text: string): ServerEvent[] {
    if (text === '') return []
    const lengths = this.lengths.get(at.response) ?? this.trackLengths(at.response)
    const key = `${type} ${at.item} ${at.part}`
    lengths.set(key, (lengths.get(key) ?? 0) + text.length)
    if (lengths.size > MAX_TRACKED) lengths.delete(lengths.keys().next().value!)
    return [{ type, at, text }]
  }

  private trackLengths(response: string): Map<string, number> {
    const lengths = new Map<string, number>()
    putNewest(this.lengths, response, lengths, MAX_RUNNING)
    return lengths
  }

  /** Returns the remainder of a complete text that the deltas lacked. */
  remainder(type: 'text-delta' | 'transcript-delta' | 'arguments-delta', at: OutputPosition, value: Json | undefined) {
    const text = stringIn(value)
    return this.delta(type, at, text.slice(this.lengths.get(at.response)?.get(`${type} ${at.item} ${at.part}`) ?? 0))
  }

  outputDone(value: JsonObject): ServerEvent[] {
    const item = itemOf(value['item'])
    const status = item.status ?? 'completed'
    const output = this.outputs.get(item.id!) ?? nonNegative(value['output_index'])
    return [{ type: 'output-end', response: stringIn(value['response_id']), output, item: item.id!, status }]
  }

  responseDone(value: JsonObject): ServerEvent[] {
    const response = isObject(value['response']) ? value['response'] : {}
    for (const output of Array.isArray(response['output']) ? response['output'] : [])
      if (isObject(output)) this.outputs.delete(stringIn(output['id']))
    this.counts.delete(stringIn(response['id']))
    this.lengths.delete(stringIn(response['id']))
    // The empty id has the counts for upstreams that send no response ids.
    this.lengths.delete('')
    const details = isObject(response['status_details']) ? response['status_details'] : {}
    const status = stringIn(response['status'])
    return [
      defined({
        type: 'response-end' as const,
        response: stringIn(response['id']),
        status: STATUSES.has(status) ? (status as ResponseStatus) : 'completed',
        reason: REASONS.has(stringIn(details['reason'])) ? (details['reason'] as ResponseReason) : undefined,
        error: isObject(details['error']) ? readError(details['error']) : undefined,
        usage: readUsage(response['usage']) ?? readUsage(value['usage']),
      }) as ServerEvent,
    ]
  }

  /** Handles xAI's growing transcript, which every event repeats in full. */
  transcriptUpdated(value: JsonObject): ServerEvent[] {
    const { item, part } = inputAt(value)
    const text = stringIn(value['transcript'])
    const before = this.transcripts.get(item) ?? ''
    if (!text.startsWith(before) || text === before) return []
    this.transcripts.set(item, text)
    if (this.transcripts.size > MAX_TRACKED) this.transcripts.delete(this.transcripts.keys().next().value!)
    return [{ type: 'input-transcript-delta', item, part, text: text.slice(before.length) }]
  }

  /** Handles a complete transcript. xAI sends the event several times, first with the status `in_progress`. */
  transcriptDone(value: JsonObject): ServerEvent[] {
    if (value['status'] === 'in_progress') return this.transcriptUpdated(value)
    const { item, part } = inputAt(value)
    this.transcripts.delete(item)
    const usage = isObject(value['usage']) ? value['usage'] : {}
    return [
      defined({
        type: 'input-transcript-done' as const,
        item,
        part,
        text: stringIn(value['transcript']),
        usage: readUsage(usage),
        seconds: typeof usage['seconds'] === 'number' ? usage['seconds'] : undefined,
      }) as ServerEvent,
    ]
  }
}

const STATUSES: ReadonlySet<string> = new Set(['completed', 'cancelled', 'failed', 'incomplete'])
const REASONS: ReadonlySet<string> = new Set([
  ...['turn_detected', 'client_cancelled', 'max_output_tokens', 'content_filter'],
])

const EVENTS: { readonly [name: string]: (this: ServerReader, value: JsonObject) => readonly ServerEvent[] } = {
  'session.created': ({ session }) => {
    const { id, expires_at } = isObject(session) ? session : {}
    return [
      defined({
        type: 'session-created' as const,
        id: typeof id === 'string' ? id : undefined,
        expiresAt: typeof expires_at === 'number' ? expires_at : undefined,
        settings: settingsOf(session),
      }) as ServerEvent,
    ]
  },
  'session.updated': ({ session }) => [{ type: 'session-updated', settings: settingsOf(session) }],
  'conversation.created': () => [],
  ping: () => [],
  'conversation.item.created'(value) {
    return this.added(value, true)
  },
  'conversation.item.added'(value) {
    return this.itemAdded(value)
  },
  'conversation.item.done'(value) {
    return this.itemDone(value)
  },
  'conversation.item.retrieved': ({ item }) => [{ type: 'item-retrieved', item: itemOf(item) }],
  'conversation.item.deleted': ({ item_id }) => [{ type: 'item-deleted', item: stringIn(item_id) }],
  'conversation.item.truncated': ({ item_id, content_index, audio_end_ms }) => [
    {
      type: 'item-truncated',
      item: stringIn(item_id),
      part: nonNegative(content_index),
      audioEndMs: nonNegative(audio_end_ms),
    },
  ],
  'conversation.item.input_audio_transcription.delta': value => [
    { type: 'input-transcript-delta', ...inputAt(value), text: stringIn(value['delta']) },
  ],
  'conversation.item.input_audio_transcription.updated'(value) {
    return this.transcriptUpdated(value)
  },
  'conversation.item.input_audio_transcription.completed'(value) {
    return this.transcriptDone(value)
  },
  'conversation.item.input_audio_transcription.failed': value => [
    { type: 'input-transcript-failed', ...inputAt(value), error: readError(value['error']) },
  ],
  'input_audio_buffer.speech_started': ({ item_id, audio_start_ms }) => [
    { type: 'speech-started', item: stringIn(item_id), atMs: nonNegative(audio_start_ms) },
  ],
  'input_audio_buffer.speech_stopped': ({ item_id, audio_end_ms }) => [
    { type: 'speech-stopped', item: stringIn(item_id), atMs: nonNegative(audio_end_ms) },
  ],
  'input_audio_buffer.committed'(value) {
    return this.committed(value)
  },
  'input_audio_buffer.cleared': () => [{ type: 'audio-cleared' }],
  'input_audio_buffer.timeout_triggered': ({ item_id, audio_start_ms, audio_end_ms }) => [
    {
      type: 'audio-timed-out',
      item: stringIn(item_id),
      startMs: nonNegative(audio_start_ms),
      endMs: nonNegative(audio_end_ms),
    },
  ],
  'response.created': ({ response }) => {
    const fields = isObject(response) ? response : {}
    const { id, conversation_id, output_modalities, modalities: betaModalities, metadata } = fields
    const listedModalities = output_modalities ?? betaModalities
    const modalities = Array.isArray(listedModalities)
      ? canonicalModalities(listedModalities.filter(one => one === 'text' || one === 'audio'))
      : undefined
    return [
      defined({
        type: 'response-start' as const,
        response: stringIn(id),
        modalities,
        metadata: isObject(metadata) ? metadata : undefined,
        detached: conversation_id === null ? (true as const) : undefined,
      }) as ServerEvent,
    ]
  },
  'response.output_item.added'(value) {
    return this.outputAdded(value)
  },
  'response.output_item.done'(value) {
    return this.outputDone(value)
  },
  'response.content_part.added'(value) {
    return [{ type: 'part-start', at: this.at(value), kind: partType(value).includes('audio') ? 'audio' : 'text' }]
  },
  'response.content_part.done'(value) {
    return [{ type: 'part-end', at: this.at(value) }]
  },
  'response.output_text.delta'(value) {
    return this.delta('text-delta', this.at(value), stringIn(value['delta']))
  },
  'response.output_text.done'(value) {
    return this.remainder('text-delta', this.at(value), value['text'])
  },
  'response.output_audio_transcript.delta'(value) {
    return this.delta('transcript-delta', this.at(value), stringIn(value['delta']))
  },
  'response.output_audio_transcript.done'(value) {
    return this.remainder('transcript-delta', this.at(value), value['transcript'])
  },
  'response.output_audio.delta'(value) {
    return [{ type: 'audio-delta', at: this.at(value), audio: Buffer.from(stringIn(value['delta']), 'base64') }]
  },
  'response.output_audio.done': () => [],
  'response.function_call_arguments.delta'(value) {
    return this.delta('arguments-delta', this.at(value), stringIn(value['delta']))
  },
  'response.function_call_arguments.done'(value) {
    return this.remainder('arguments-delta', this.at(value), value['arguments'])
  },
  'response.done'(value) {
    return this.responseDone(value)
  },
  'rate_limits.updated': ({ rate_limits }) => [
    { type: 'rate-limits', limits: (Array.isArray(rate_limits) ? rate_limits : []).filter(isObject).map(limitOf) },
  ],
  error: ({ error }) => {
    const event = isObject(error) ? error['event_id'] : undefined
    return [{ type: 'error', error: readError(error), ...(typeof event === 'string' ? { event } : {}) }]
  },
}

const failure = (message: string): ServerEvent => ({ type: 'error', error: { kind: 'upstream-failed', message } })

const nonNegative = (value: Json | undefined): number => (typeof value === 'number' && value >= 0 ? value : 0)

const partType = ({ part }: JsonObject): string => stringIn(isObject(part) ? part['type'] : undefined)

const inputAt = (value: JsonObject) => ({ item: stringIn(value['item_id']), part: nonNegative(value['content_index']) })

/** Returns a finished item, also if its upstream still hears it. */
const ended = (item: ConversationItem): ConversationItem =>
  item.status === 'in_progress' ? { ...item, status: 'completed' } : item

function itemOf(value: Json | undefined): ConversationItem {
  const item = readItem(value, 'item', mediaTypeOf(PCM_24K))
  return { ...item, id: item.id ?? '' }
}

/** Reads the settings that an upstream reports. If they are unreadable, returns no settings instead of an error. */
export function settingsOf(session: Json | undefined): VoiceSessionSettings {
  const fields = isObject(session) ? session : {}
  try {
    return readSettings(fields, 'session')
  } catch {
    return {}
  }
}

const limitOf = ({ name, limit, remaining, reset_seconds }: JsonObject): VoiceRateLimit => ({
  name: name === 'requests' ? 'requests' : 'tokens',
  limit: nonNegative(limit),
  remaining: nonNegative(remaining),
  resetSeconds: nonNegative(reset_seconds),
})
