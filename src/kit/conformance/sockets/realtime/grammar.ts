import { type Json, type JsonObject, objectOf, textOf } from '../../json.ts'
import { type Violation, Violations } from '../../rules.ts'
import { type Frame, typeOf } from '../frame.ts'
import type { Frames } from '../session-format.ts'
import { generalName, isNameOfOtherVersion, type Version } from './names.ts'
import { areEquivalent, ResponseState } from './response-state.ts'

/** Events without an `event_id`, including those of xAI. */
const WITHOUT_ID = new Set(['input_audio_buffer.dtmf_event_received', 'ping'])

const FINAL = new Set(['completed', 'cancelled', 'failed', 'incomplete'])

type Step = (state: ResponseState, data: JsonObject) => void

/** Events of a response, by their GA names. */
const STEPS: { readonly [type: string]: Step } = {
  'response.output_item.added': (state, data) => state.itemAdded(data),
  'response.output_item.done': (state, data) => state.itemDone(data),
  'response.content_part.added': (state, data) => state.partAdded(data),
  'response.content_part.done': (state, data) => state.partDone(data),
  'response.output_text.delta': (state, data) => state.delta('text', data),
  'response.output_text.done': (state, data) => state.deltasDone('text', data),
  'response.output_audio_transcript.delta': (state, data) => state.delta('transcript', data),
  'response.output_audio_transcript.done': (state, data) => state.deltasDone('transcript', data),
  'response.output_audio.delta': (state, data) => state.delta('audio', data),
  'response.output_audio.done': (state, data) => state.deltasDone('audio', data),
  'response.function_call_arguments.delta': (state, data) => state.argumentsDelta(data),
  'response.function_call_arguments.done': (state, data) => state.argumentsDone(data),
}

/** Events that create an item of the user's speech. */
const ANNOUNCING = new Set(['input_audio_buffer.committed', 'input_audio_buffer.speech_started'])

/** Events about an item that exists. */
const REFERRING =
  /^conversation\.item\.(input_audio_transcription\..+|truncated|deleted)$|^input_audio_buffer\.speech_stopped$/

/** Events that show a whole item. */
const SHOWING = new Set([
  ...['conversation.item.added', 'conversation.item.done', 'conversation.item.retrieved'],
  ...['response.output_item.added', 'response.output_item.done'],
])

/** State machine over the events of one server. */
class SessionGrammar {
  private readonly violations = new Violations()
  private readonly ids = new Set<string>()
  private readonly open = new Map<string, ResponseState>()
  /** Items that the server has announced, as they were last shown. */
  private readonly items = new Map<Json, JsonObject>()
  /** Items that are complete. */
  private readonly complete = new Set<Json>()
  /** Deltas of the user's transcripts, by item. */
  private readonly heard = new Map<Json, string>()
  private count = 0
  private updates = 0
  private readonly version: Version

  constructor(version: Version) {
    this.version = version
  }

  event({ data, text }: Frame): void {
    const type = typeOf(data)
    if (data === undefined || type === '') return this.violations.add('event', text.slice(0, 200))
    if (this.count++ === 0 && type !== 'session.created' && type !== 'error')
      this.violations.add('created', `The first event is ${type}.`)
    this.identify(type, data)
    if (isNameOfOtherVersion(this.version, type)) this.violations.add('version', type)
    if (type === 'error') this.error(data)
    if (type === 'session.updated') this.updates++
    this.respond(generalName(type), data)
  }

  end({ client, closed }: Frames): readonly Violation[] {
    const updates = client.filter(({ data }) => typeOf(data) === 'session.update').length
    if (this.updates < updates) this.violations.add('updated', `${updates} updates, ${this.updates} answers.`)
    for (const id of this.open.keys()) this.violations.add('response.done', `Response ${id} has no response.done.`)
    if (closed?.code === 1006) this.violations.add('close', 'The connection was closed without a close frame.')
    return this.violations.list
  }

  private identify(type: string, data: JsonObject): void {
    if (WITHOUT_ID.has(type)) return
    const id = textOf(data['event_id'])
    if (id === undefined) this.violations.add('event-id', type)
    else if (this.ids.has(id)) this.violations.add('event-id.unique', `${type}: ${id}`)
    else this.ids.add(id)
  }

  private error(data: JsonObject): void {
    this.updates++
    const { type, message } = objectOf(data['error'])
    if (typeof type !== 'string' || typeof message !== 'string')
      this.violations.add('error', JSON.stringify(data).slice(0, 200))
  }

  private respond(type: string, data: JsonObject): void {
    if (type === 'response.created') return this.create(objectOf(data['response']))
    if (type === 'response.done') return this.finish(objectOf(data['response']))
    if (type === 'conversation.item.added')
      for (const state of this.open.values()) state.created(textOf(objectOf(data['item'])['id']) ?? '')
    if (/^conversation\.item\.input_audio_transcription\.(delta|completed)$/.test(type)) this.hear(type, data)
    this.announce(type, data)
    const step = STEPS[type]
    if (step === undefined) return
    const state = this.open.get(textOf(data['response_id']) ?? '')
    if (state === undefined) this.violations.add('response.open', `${type} of ${String(data['response_id'])}`)
    else step(state, data)
  }

  /** Remembers the items that an event shows, and checks that it refers to known ones and shows them as before. */
  private announce(type: string, data: JsonObject): void {
    const { item_id: reference = null } = data
    if (ANNOUNCING.has(type)) this.items.getOrInsert(reference, {})
    else if (REFERRING.test(type) && !this.items.has(reference))
      this.violations.add('item.known', `${type} refers to ${String(reference)}.`)
    const item = objectOf(data['item'])
    const id = item['id']
    if (id === undefined || !SHOWING.has(type)) return
    const before = this.items.get(id)
    const isDone = type.endsWith('.done')
    if (before !== undefined && this.complete.has(id) && isDone && !areEquivalent(item, before))
      this.violations.add('item.same', `${type} shows ${String(id)} otherwise than the event before.`)
    if (isDone || before === undefined || !this.complete.has(id)) this.items.set(id, item)
    if (isDone) this.complete.add(id)
  }

  /** Checks that the deltas of the user's transcript add up to it. */
  private hear(type: string, { item_id: id, delta, transcript }: JsonObject): void {
    const heard = this.heard.get(id ?? null)
    if (type.endsWith('.delta')) this.heard.set(id ?? null, (heard ?? '') + (textOf(delta) ?? ''))
    else if (heard !== undefined && heard !== transcript)
      this.violations.add('heard.done', `Deltas add up to ${JSON.stringify(heard)}, not ${JSON.stringify(transcript)}.`)
  }

  private create(response: JsonObject): void {
    const id = textOf(response['id'])
    if (id === undefined || response['status'] !== 'in_progress')
      this.violations.add('response.created', `${String(id)}: ${String(response['status'])}`)
    // A response outside the conversation may run in parallel with another one.
    const isOutside = response['conversation_id'] === null
    if (this.open.size > 0 && !isOutside)
      this.violations.add('response.one', `${String(id)} begins before ${[...this.open.keys()].join(', ')} ends.`)
    this.open.set(id ?? '', new ResponseState(id ?? '', this.violations))
  }

  private finish(response: JsonObject): void {
    const id = textOf(response['id']) ?? ''
    const state = this.open.get(id)
    if (state === undefined) return this.violations.add('response.open', `response.done of ${id}`)
    this.open.delete(id)
    const status = textOf(response['status']) ?? ''
    if (!FINAL.has(status)) this.violations.add('response.status', `${id}: ${status}`)
    if (status === 'completed' && Object.keys(objectOf(response['usage'])).length === 0)
      this.violations.add('usage', `${id} has none.`)
    state.end(response)
  }
}

/** Checks a server's events and their order. */
export function grammarOf(version: Version): (frames: Frames) => readonly Violation[] {
  return frames => {
    const grammar = new SessionGrammar(version)
    for (const frame of frames.server) grammar.event(frame)
    return grammar.end(frames)
  }
}
