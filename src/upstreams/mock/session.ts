import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { BUILT_IN_FIXTURES } from './fixtures.ts'

/** Sample rate, in hertz. */
const RATE = 24_000
/** Length of one audio chunk, in milliseconds. */
const CHUNK_MS = 100

/** Mean amplitude above which audio counts as speech. */
const LOUD = 1000
/** Silence that ends speech, in milliseconds. */
const SILENCE_MS = 400

/** Maximum number of conversation items that a session stores. */
const MAX_ITEMS = 1000

const WORDS = ['Hello ', 'from ', 'the ', 'replay.']

/** A realtime session of the mock: text, audio and function calls without a model, as a push machine. */
export class MockSession {
  private count = 0
  private session: JsonObject
  private readonly items: JsonObject[] = []
  /** Audio appended since the start of the session, in milliseconds. */
  private heardMs = 0
  /** Appended audio that is not committed yet, in milliseconds. */
  private pendingMs = 0
  /** Id of the item for the current speech. Undefined during silence. */
  private speech: string | undefined
  /** Silence since the last speech, in milliseconds. */
  private silentMs = 0

  constructor(model: string) {
    const format = { type: 'audio/pcm', rate: RATE }
    const turns = { type: 'server_vad', create_response: true, interrupt_response: true }
    this.session = {
      ...{ type: 'realtime', object: 'realtime.session', id: 'sess_replay', model, output_modalities: ['audio'] },
      ...{ instructions: '', tools: [], tool_choice: 'auto', max_output_tokens: 'inf' },
      audio: { input: { format, turn_detection: turns, transcription: null }, output: { format, voice: 'alloy' } },
    }
  }

  begin(): JsonObject[] {
    return [this.event('session.created', { session: this.session })]
  }

  /** Returns the session's events in answer to one client event. */
  push(event: JsonObject): JsonObject[] {
    switch (event['type']) {
      case 'session.update':
        this.session = mergedSession(this.session, event['session'])
        return [this.event('session.updated', { session: this.session })]
      case 'conversation.item.create':
        return this.add(isObject(event['item']) ? event['item'] : {})
      case 'input_audio_buffer.append':
        return this.append(typeof event['audio'] === 'string' ? Buffer.from(event['audio'], 'base64') : Buffer.alloc(0))
      case 'input_audio_buffer.commit':
        return this.pendingMs === 0 ? [this.error(event, 'The buffer is empty.')] : this.commit(this.id('item'))
      case 'input_audio_buffer.clear':
        this.pendingMs = 0
        return [this.event('input_audio_buffer.cleared', {})]
      case 'response.create':
        return this.respond(isObject(event['response']) ? event['response'] : {})
      case 'response.cancel':
        return [this.error(event, 'No response is active.')]
      case 'conversation.item.truncate':
      case 'conversation.item.retrieve':
      case 'conversation.item.delete':
        return [this.change(event)]
      default:
        return [this.error(event, `Unknown event type '${String(event['type'])}'.`)]
    }
  }

  private id(prefix: string): string {
    return `${prefix}_replay_${++this.count}`
  }

  private event(type: string, fields: JsonObject): JsonObject {
    return { type, event_id: this.id('event'), ...fields }
  }

  private error({ event_id = null }: JsonObject, message: string): JsonObject {
    const error = { type: 'invalid_request_error', code: 'invalid_value', message, param: null, event_id }
    return this.event('error', { error })
  }

  private add(item: JsonObject): JsonObject[] {
    const whole = { id: this.id('item'), object: 'realtime.item', status: 'completed', ...item }
    const previous = this.items.at(-1)?.['id'] ?? null
    this.items.push(whole)
    if (this.items.length > MAX_ITEMS) this.items.shift()
    return ['added', 'done'].map(word =>
      this.event(`conversation.item.${word}`, { previous_item_id: previous, item: whole }),
    )
  }

  /** Retrieves, truncates or deletes a stored item. */
  private change(event: JsonObject): JsonObject {
    const { type, item_id = null, content_index = 0, audio_end_ms = 0 } = event
    const index = this.items.findIndex(({ id }) => id === item_id)
    if (index < 0) return this.error(event, `There is no item "${String(item_id)}".`)
    if (type === 'conversation.item.retrieve')
      return this.event('conversation.item.retrieved', { item: this.items[index]! })
    if (type === 'conversation.item.truncate')
      return this.event('conversation.item.truncated', { item_id, content_index, audio_end_ms })
    this.items.splice(index, 1)
    return this.event('conversation.item.deleted', { item_id })
  }

  /** Appends audio and detects turns in the simplest way: loud, then silent. */
  private append(audio: Buffer): JsonObject[] {
    const milliseconds = (1000 * audio.length) / (2 * RATE)
    this.heardMs += milliseconds
    this.pendingMs += milliseconds
    const turns = inputOf(this.session)['turn_detection']
    if (!isObject(turns)) return []
    const isLoud = loudness(audio) > LOUD
    this.silentMs = isLoud ? 0 : this.silentMs + milliseconds
    if (isLoud && this.speech === undefined) {
      this.speech = this.id('item')
      const at = { audio_start_ms: Math.floor(this.heardMs - milliseconds), item_id: this.speech }
      return [this.event('input_audio_buffer.speech_started', at)]
    }
    if (this.speech === undefined || this.silentMs < SILENCE_MS) return []
    const item = this.speech
    this.speech = undefined
    const stopped = { audio_end_ms: Math.floor(this.heardMs), item_id: item }
    const ended = [this.event('input_audio_buffer.speech_stopped', stopped), ...this.commit(item)]
    return turns['create_response'] === false ? ended : [...ended, ...this.respond({})]
  }

  private commit(id: string): JsonObject[] {
    this.pendingMs = 0
    const committed = this.event('input_audio_buffer.committed', {
      previous_item_id: this.items.at(-1)?.['id'] ?? null,
      item_id: id,
    })
    const content = [{ type: 'input_audio', transcript: null }]
    const added = this.add({ id, type: 'message', role: 'user', content })
    if (!isObject(inputOf(this.session)['transcription'])) return [committed, ...added]
    const transcribed = this.event('conversation.item.input_audio_transcription.completed', {
      ...{ item_id: id, content_index: 0, transcript: 'hello' },
      usage: { type: 'duration', seconds: 1 },
    })
    return [committed, ...added, transcribed]
  }

  /**
   * Answers with a call of the first tool if the conversation has no tool result yet, otherwise with spoken or written
   * words.
   */
  private respond(settings: JsonObject): JsonObject[] {
    const wanted = { ...this.session, ...settings }
    const id = this.id('resp')
    const head = { id, object: 'realtime.response', status: 'in_progress', output: [], usage: null }
    const tool = Array.isArray(wanted['tools']) ? wanted['tools'].find(isObject) : undefined
    const isAnswered = this.items.some(({ type }) => type === 'function_call_output')
    const modalities = wanted['output_modalities']
    const isText = Array.isArray(modalities) && !modalities.includes('audio')
    const { item, events } =
      tool !== undefined && !isAnswered && wanted['tool_choice'] !== 'none'
        ? this.call(id, String(tool['name']))
        : this.message(id, isText)
    const usage = {
      ...{ total_tokens: 20, input_tokens: 10, output_tokens: 10 },
      input_token_details: { text_tokens: 10, audio_tokens: 0, cached_tokens: 0 },
      output_token_details: { text_tokens: isText ? 10 : 4, audio_tokens: isText ? 0 : 6 },
    }
    const done = { ...head, status: 'completed', status_details: null, output: [item], usage }
    return [
      this.event('response.created', { response: head }),
      ...events,
      this.event('response.done', { response: done }),
    ]
  }

  private call(response: string, name: string): { readonly item: JsonObject; readonly events: JsonObject[] } {
    const text = '{"query":"hello"}'
    const item = { id: this.id('item'), object: 'realtime.item', type: 'function_call', call_id: this.id('call'), name }
    const at = { response_id: response, item_id: item.id, output_index: 0, call_id: item.call_id }
    const whole = { ...item, status: 'completed', arguments: text }
    const deltas = [text.slice(0, 9), text.slice(9)].map(delta =>
      this.event('response.function_call_arguments.delta', { ...at, delta }),
    )
    const inner = [...deltas, this.event('response.function_call_arguments.done', { ...at, name, arguments: text })]
    return { item: whole, events: this.wrapped(response, { ...item, arguments: '' }, whole, inner) }
  }

  private message(response: string, isText: boolean): { readonly item: JsonObject; readonly events: JsonObject[] } {
    const text = WORDS.join('')
    const head = { id: this.id('item'), object: 'realtime.item', type: 'message', role: 'assistant' }
    const at = { response_id: response, item_id: head.id, output_index: 0, content_index: 0 }
    const content = isText ? { type: 'output_text', text } : { type: 'output_audio', transcript: text }
    const part = isText ? { type: 'text', text } : { type: 'audio', transcript: text }
    const kind = isText ? 'output_text' : 'output_audio_transcript'
    const words = WORDS.map(delta => this.event(`response.${kind}.delta`, { ...at, delta }))
    const sounds = isText ? [] : spoken().map(delta => this.event('response.output_audio.delta', { ...at, delta }))
    const inner = [
      this.event('response.content_part.added', {
        ...at,
        part: isText ? { ...part, text: '' } : { type: 'audio', transcript: '' },
      }),
      ...words,
      ...sounds,
      ...(isText ? [] : [this.event('response.output_audio.done', at)]),
      this.event(`response.${kind}.done`, { ...at, ...(isText ? { text } : { transcript: text }) }),
      this.event('response.content_part.done', { ...at, part }),
    ]
    const item = { ...head, status: 'completed', content: [content] }
    return { item, events: this.wrapped(response, { ...head, content: [] }, item, inner) }
  }

  private wrapped(response: string, started: JsonObject, whole: JsonObject, inner: JsonObject[]): JsonObject[] {
    const at = { response_id: response, output_index: 0 }
    const item = { ...started, status: 'in_progress' }
    this.items.push(whole)
    return [
      this.event('response.output_item.added', { ...at, item }),
      this.event('conversation.item.added', { item }),
      ...inner,
      this.event('conversation.item.done', { item: whole }),
      this.event('response.output_item.done', { ...at, item: whole }),
    ]
  }
}

const inputOf = ({ audio }: JsonObject): JsonObject => {
  const input = isObject(audio) ? audio['input'] : undefined
  return isObject(input) ? input : {}
}

/** Merges a `session.update` into the session. Audio settings are merged field by field. */
function mergedSession(session: JsonObject, change: Json | undefined): JsonObject {
  if (!isObject(change)) return session
  const before = isObject(session['audio']) ? session['audio'] : {}
  const audio = isObject(change['audio']) ? change['audio'] : {}
  const side = (name: string): JsonObject => ({ ...(before[name] as JsonObject), ...(audio[name] as JsonObject) })
  return { ...session, ...change, audio: { input: side('input'), output: side('output') } }
}

/** The mean amplitude of 16-bit samples. */
function loudness(audio: Buffer): number {
  let sum = 0
  const count = Math.floor(audio.length / 2)
  for (let index = 0; index < count; index++) sum += Math.abs(audio.readInt16LE(2 * index))
  return count === 0 ? 0 : sum / count
}

const RECORDING = join(BUILT_IN_FIXTURES, 'realtime', 'hello.pcm')

/** Reads the spoken answer as base64 chunks. */
function spoken(): string[] {
  const samples = readFileSync(RECORDING)
  const size = (2 * RATE * CHUNK_MS) / 1000
  return Array.from({ length: Math.ceil(samples.length / size) }, (_, index) =>
    samples.subarray(index * size, (index + 1) * size).toString('base64'),
  )
}
