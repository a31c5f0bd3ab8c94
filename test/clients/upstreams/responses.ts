import type { JsonObject } from '../../../src/canonical/node.ts'
import {
  frame,
  type Heard,
  halves,
  joined,
  type Loose,
  outputOf,
  PROOF,
  type Scene,
  type SceneCall,
  type UpstreamFormat,
  USAGE,
} from '../scene.ts'

const usage = {
  input_tokens: USAGE.input,
  input_tokens_details: { cached_tokens: USAGE.cached, cache_write_tokens: 0 },
  output_tokens: USAGE.output,
  output_tokens_details: { reasoning_tokens: USAGE.thought },
  total_tokens: USAGE.input + USAGE.output,
}

const head = (status: string, output: readonly JsonObject[]): JsonObject => ({
  ...{ id: 'resp_up', object: 'response', created_at: 1_700_000_000, status, error: null, incomplete_details: null },
  ...{ instructions: null, metadata: {}, model: 'm', output, parallel_tool_calls: true, temperature: 1, top_p: 1 },
  ...{ tool_choice: 'auto', tools: [], usage: status === 'completed' ? usage : null },
})

const part = (text: string): JsonObject => ({ type: 'output_text', text, annotations: [], logprobs: [] })

function itemsOf({ thought, text, calls = [] }: Scene): JsonObject[] {
  const items: JsonObject[] = []
  if (thought !== undefined)
    items.push({
      type: 'reasoning',
      id: 'rs_1',
      summary: thought === '' ? [] : [{ type: 'summary_text', text: thought }],
      encrypted_content: PROOF,
    })
  if (text !== undefined)
    items.push({ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [part(text)] })
  return [...items, ...calls.map(itemOf)]
}

function itemOf({ id, name, namespace, arguments: given, input }: SceneCall): JsonObject {
  const call = { call_id: id, name, ...(namespace === undefined ? {} : { namespace }), status: 'completed' }
  return input === undefined
    ? { type: 'function_call', id: `fc_${id}`, ...call, arguments: JSON.stringify(given) }
    : { type: 'custom_tool_call', id: `ctc_${id}`, ...call, input }
}

/** Returns the events of one item, without their sequence numbers. */
function eventsOf(item: JsonObject, output_index: number): JsonObject[] {
  const at = { item_id: item['id']!, output_index }
  const begun = { ...item, ...BEGUN[item['type'] as string] }
  return [
    { type: 'response.output_item.added', output_index, item: begun },
    ...BODY[item['type'] as string]!(item, at),
    { type: 'response.output_item.done', output_index, item },
  ]
}

const BEGUN: { readonly [type: string]: JsonObject } = {
  reasoning: { summary: [] },
  message: { status: 'in_progress', content: [] },
  function_call: { status: 'in_progress', arguments: '' },
  custom_tool_call: { status: 'in_progress', input: '' },
}

const BODY: { readonly [type: string]: (item: Loose, at: JsonObject) => JsonObject[] } = {
  reasoning: ({ summary: [{ text } = { text: '' }] }, at) => {
    if (text === '') return []
    const place = { ...at, summary_index: 0 }
    return [
      { type: 'response.reasoning_summary_part.added', ...place, part: { type: 'summary_text', text: '' } },
      ...halves(text).map(delta => ({ type: 'response.reasoning_summary_text.delta', ...place, delta })),
      { type: 'response.reasoning_summary_text.done', ...place, text },
      { type: 'response.reasoning_summary_part.done', ...place, part: { type: 'summary_text', text } },
    ]
  },
  message: ({ content: [{ text }] }, at) => {
    const place = { ...at, content_index: 0 }
    return [
      { type: 'response.content_part.added', ...place, part: part('') },
      ...halves(text).map(delta => ({ type: 'response.output_text.delta', ...place, delta, logprobs: [] })),
      { type: 'response.output_text.done', ...place, text, logprobs: [] },
      { type: 'response.content_part.done', ...place, part: part(text) },
    ]
  },
  function_call: ({ arguments: text }, at) => [
    ...halves(text).map(delta => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
    { type: 'response.function_call_arguments.done', ...at, arguments: text },
  ],
  custom_tool_call: ({ input }, at) => [
    ...halves(input).map(delta => ({ type: 'response.custom_tool_call_input.delta', ...at, delta })),
    { type: 'response.custom_tool_call_input.done', ...at, input },
  ],
}

function hearItem(item: Loose, names: Map<string, string>): Heard {
  switch (item.type ?? 'message') {
    case 'function_call':
    case 'custom_tool_call':
      names.set(item.call_id, item.name)
      return {
        role: 'assistant',
        text: '',
        calls: [{ name: item.name, arguments: item.input ?? JSON.parse(item.arguments) }],
      }
    case 'custom_tool_call_output':
    case 'function_call_output':
      return {
        role: 'tool',
        text: '',
        results: [{ name: names.get(item.call_id) ?? '?', output: outputOf(item.output) }],
      }
    case 'additional_tools':
      return { role: 'system', text: '' }
    case 'reasoning':
      return { role: 'assistant', text: '', proofs: item.encrypted_content ? [item.encrypted_content] : [] }
    default: {
      const parts = typeof item.content === 'string' ? [{ text: item.content }] : item.content
      return {
        role: item.role === 'developer' ? 'system' : item.role,
        text: parts.map((one: Loose) => one.text ?? '').join(''),
        images: parts
          .filter((one: Loose) => one.type === 'input_image')
          .map((one: Loose) => one.image_url.replace(/^data:[^,]*,/, '')),
      }
    }
  }
}

export const responses: UpstreamFormat = {
  whole: scene => head('completed', itemsOf(scene)),
  frames: scene => {
    const items = itemsOf(scene)
    const events: JsonObject[] = [
      { type: 'response.created', response: head('in_progress', []) },
      { type: 'response.in_progress', response: head('in_progress', []) },
      ...items.flatMap(eventsOf),
      { type: 'response.completed', response: head('completed', items) },
    ]
    return events.map((event, sequence_number) => frame({ ...event, sequence_number }, event['type'] as string))
  },
  breakOff: message =>
    frame({ type: 'error', code: 'server_error', message, param: null, sequence_number: 99 }, 'error'),
  error: (status, message) => ({
    error: { message, type: status === 429 ? 'rate_limit_error' : 'invalid_request_error', param: null, code: null },
  }),
  hear: body => {
    const { input, instructions, tools = [], text, reasoning, max_output_tokens } = body as Loose
    const names = new Map<string, string>()
    const items: Loose[] = typeof input === 'string' ? [{ role: 'user', content: input }] : input
    return {
      turns: joined([
        ...(instructions == null ? [] : [{ role: 'system', text: instructions }]),
        ...items.map(item => hearItem(item, names)),
      ]),
      tools: tools.map((tool: Loose) => tool.name),
      schema: text?.format?.schema,
      thinks: reasoning?.effort !== undefined && reasoning.effort !== 'none',
      limit: max_output_tokens,
    }
  },
  streams: (_, body) => body['stream'] === true,
}
