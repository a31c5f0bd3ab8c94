import type { Json, JsonObject } from '../../src/canonical/node.ts'
import type { WireEvent } from '../../src/canonical/wire.ts'
import { objectsIn } from '../builders/streams.ts'

/*
 * Converts whole answers to streams in the order that their publishers describe, and assembles streams as clients do.
 */

export interface Telling {
  /** Returns the events of the answer. */
  tell(answer: JsonObject): readonly JsonObject[]
  /** Returns the client's state after the stream. */
  hear(events: readonly WireEvent[]): JsonObject
}

const parsed = (events: readonly WireEvent[]): JsonObject[] =>
  events.filter(({ data }) => data !== '[DONE]').map(({ data }) => JSON.parse(data) as JsonObject)
const halves = (text: Json | undefined): readonly string[] => {
  const whole = String(text)
  return whole === '' ? [] : [whole.slice(0, whole.length / 2), whole.slice(whole.length / 2)].filter(Boolean)
}

/** Fields of each block of messages that grow, and their deltas. */
const GROWS: { readonly [type: string]: readonly (readonly [field: string, delta: string, as: string])[] } = {
  text: [['text', 'text_delta', 'text']],
  thinking: [
    ['thinking', 'thinking_delta', 'thinking'],
    ['signature', 'signature_delta', 'signature'],
  ],
}

const CALLS = new Set<Json | undefined>(['tool_use', 'server_tool_use', 'mcp_tool_use'])
const LAST = ['stop_reason', 'stop_sequence', 'stop_details', 'container']

function tellBlock(block: JsonObject, index: number): JsonObject[] {
  const grows = GROWS[block['type'] as string] ?? []
  const start: { [field: string]: Json } = { ...block }
  for (const [field] of grows) start[field] = ''
  const deltas: JsonObject[] = grows.flatMap(([field, type, as]) =>
    (field === 'signature' ? [String(block[field])] : halves(block[field])).map(text => ({ type, [as]: text })),
  )
  if (CALLS.has(block['type'])) {
    start['input'] = {}
    deltas.push(
      ...halves(JSON.stringify(block['input'])).map(text => ({ type: 'input_json_delta', partial_json: text })),
    )
  }
  if (Array.isArray(block['citations'])) {
    start['citations'] = []
    deltas.push(...objectsIn(block['citations']).map(citation => ({ type: 'citations_delta', citation })))
  }
  return [
    { type: 'content_block_start', index, content_block: start },
    ...deltas.map(delta => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

function hearBlock(start: JsonObject, deltas: readonly JsonObject[]): JsonObject {
  const block: { [field: string]: Json } = { ...start }
  let json = ''
  for (const { type, ...delta } of deltas)
    if (type === 'input_json_delta') json += delta['partial_json']
    else if (type === 'citations_delta')
      block['citations'] = [...((block['citations'] as Json[] | null) ?? []), delta['citation']!]
    else for (const [field, text] of Object.entries(delta)) block[field] = `${block[field] ?? ''}${text}`
  return json === '' ? block : { ...block, input: JSON.parse(json) as Json }
}

const messages: Telling = {
  tell(answer) {
    const early = {
      ...answer,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
    }
    const delta = Object.fromEntries(LAST.map(field => [field, answer[field] ?? null]))
    return [
      { type: 'message_start', message: early },
      ...objectsIn(answer['content']).flatMap(tellBlock),
      { type: 'message_delta', delta, usage: answer['usage']! },
      { type: 'message_stop' },
    ]
  },
  hear(events) {
    let message: JsonObject = {}
    const blocks: { start: JsonObject; deltas: JsonObject[] }[] = []
    for (const event of parsed(events)) {
      if (event['type'] === 'message_start') message = event['message'] as JsonObject
      if (event['type'] === 'content_block_start')
        blocks.push({ start: event['content_block'] as JsonObject, deltas: [] })
      if (event['type'] === 'content_block_delta')
        blocks[event['index'] as number]!.deltas.push(event['delta'] as JsonObject)
      if (event['type'] === 'message_delta')
        message = {
          ...message,
          ...(event['delta'] as JsonObject),
          usage: { ...(message['usage'] as JsonObject), ...(event['usage'] as JsonObject) },
        }
    }
    return { ...message, content: blocks.map(({ start, deltas }) => hearBlock(start, deltas)) }
  },
}

/** Returns the events of an item. Fields with own events are empty at the start. */
function tellItem(item: JsonObject, output_index: number): JsonObject[] {
  const at = { item_id: item['id'] ?? null, output_index }
  const told: JsonObject[] = []
  let start: JsonObject = { ...item, ...('status' in item ? { status: 'in_progress' } : {}) }
  const say = (name: string, fields: JsonObject) => told.push({ type: `response.${name}`, ...at, ...fields })
  if (item['type'] === 'message') {
    start = { ...start, content: [] }
    for (const [content_index, part] of objectsIn(item['content']).entries()) {
      if (part['type'] !== 'output_text' && part['type'] !== 'refusal') {
        say('content_part.added', { content_index, part })
        say('content_part.done', { content_index, part })
        continue
      }
      const [name, field] = part['type'] === 'refusal' ? ['refusal', 'refusal'] : ['output_text', 'text']
      const empty = { ...part, [field!]: '', ...(name === 'refusal' ? {} : { annotations: [], logprobs: [] }) }
      say('content_part.added', { content_index, part: empty })
      const logprobs = part['logprobs'] ?? []
      for (const [index, delta] of halves(part[field!]).entries())
        say(`${name}.delta`, {
          content_index,
          delta,
          ...(name === 'refusal' ? {} : { logprobs: index === 0 ? logprobs : [] }),
        })
      for (const [annotation_index, annotation] of objectsIn(part['annotations']).entries())
        say('output_text.annotation.added', { content_index, annotation_index, annotation })
      say(`${name}.done`, { content_index, [field!]: part[field!]!, ...(name === 'refusal' ? {} : { logprobs }) })
      say('content_part.done', { content_index, part })
    }
  }
  for (const [type, field, name] of CALLED)
    if (item['type'] === type) {
      start = { ...start, [field]: '' }
      for (const delta of halves(item[field])) say(`${name}.delta`, { delta })
      say(`${name}.done`, { [field]: item[field]! })
    }
  if (item['type'] === 'reasoning') {
    start = { ...start, summary: [], ...('content' in item ? { content: [] } : {}) }
    for (const [summary_index, part] of objectsIn(item['summary']).entries()) {
      say('reasoning_summary_part.added', { summary_index, part: { ...part, text: '' } })
      for (const delta of halves(part['text'])) say('reasoning_summary_text.delta', { summary_index, delta })
      say('reasoning_summary_text.done', { summary_index, text: part['text']! })
      say('reasoning_summary_part.done', { summary_index, part })
    }
    for (const [content_index, part] of objectsIn(item['content']).entries()) {
      for (const delta of halves(part['text'])) say('reasoning_text.delta', { content_index, delta })
      say('reasoning_text.done', { content_index, text: part['text']! })
    }
  }
  return [
    { type: 'response.output_item.added', output_index, item: start },
    ...told,
    { type: 'response.output_item.done', output_index, item },
  ]
}

const CALLED = [
  ['function_call', 'arguments', 'function_call_arguments'],
  ['custom_tool_call', 'input', 'custom_tool_call_input'],
] as const

const responses: Telling = {
  tell(answer) {
    const response = { ...answer, output: [], usage: null, status: 'in_progress' }
    const end = ['incomplete', 'failed'].includes(String(answer['status'])) ? answer['status'] : 'completed'
    const events: JsonObject[] = [
      { type: 'response.created', response },
      { type: 'response.in_progress', response },
      ...objectsIn(answer['output']).flatMap(tellItem),
      { type: `response.${end}`, response: answer },
    ]
    return events.map((event, sequence_number) => ({ ...event, sequence_number }))
  },
  hear(events) {
    const all = parsed(events)
    const last = all.at(-1)!['response'] as JsonObject
    const items = all.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => item!)
    return { ...last, output: last['output']!, items }
  },
}

export const TELLINGS: { readonly [format: string]: Telling } = { messages, responses }

/** Completes an answer so that its stream can be complete, and removes distinctions that its chunks cannot express. */
const FINISHED: { readonly [format: string]: (answer: JsonObject) => JsonObject } = {
  // The event that starts a reasoning part does not distinguish a message from reasoning.
  responses: answer => ({ ...answer, output: objectsIn(answer['output']).map(apart) }),
  // A null of the beta is absent at the start of a stream.
  messages: ({ context_management, ...answer }) =>
    context_management == null ? answer : { ...answer, context_management },
}

/** Separates reasoning from messages, because the events of reasoning cannot express a mixture. */
function apart(item: JsonObject): JsonObject {
  const { type, content } = item
  if ((type !== 'message' && type !== 'reasoning') || !Array.isArray(content)) return item
  return {
    ...item,
    content: objectsIn(content).filter(part => (part['type'] === 'reasoning_text') === (type === 'reasoning')),
  }
}

export const finished = (format: string, answer: JsonObject): JsonObject => FINISHED[format]?.(answer) ?? answer

/** Differences that do not matter to a client of the format: an empty list of citations equals none. */
const ALIKE: { readonly [format: string]: (answer: JsonObject) => JsonObject } = {
  messages: answer => ({ ...answer, content: objectsIn(answer['content']).map(uncited) }),
  responses: ({ usage, ...answer }) => ({
    ...answer,
    ...(usage == null ? {} : { usage }),
    output: objectsIn(answer['output']).map(settled),
    items: objectsIn(answer['items']).map(settled),
  }),
}

const uncited = ({ citations, ...block }: JsonObject): JsonObject =>
  Array.isArray(citations) && citations.length > 0 ? { ...block, citations } : block

/** Returns an item of a completed answer, which is no longer in progress. */
const settled = ({ status, ...item }: JsonObject): JsonObject =>
  status === undefined || status === 'in_progress' || status === 'incomplete' ? item : { ...item, status }

export function hears(format: string, events: readonly WireEvent[]): JsonObject {
  const heard = TELLINGS[format]!.hear(events)
  return ALIKE[format]?.(heard) ?? heard
}
