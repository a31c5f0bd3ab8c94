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
  type UpstreamFormat,
  USAGE,
} from '../scene.ts'

const HEAD = { id: 'msg_up', type: 'message', role: 'assistant', model: 'm', stop_sequence: null }

const finish = ({ calls }: Scene): string => (calls === undefined ? 'end_turn' : 'tool_use')

/** Returns the usage. Tokens read from the cache are beside the input, not in it. */
const usage = (output_tokens: number): JsonObject => ({
  input_tokens: USAGE.input - USAGE.cached,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: USAGE.cached,
  output_tokens,
})

const blocksOf = ({ thought, text, calls = [] }: Scene): JsonObject[] => [
  ...(thought === undefined ? [] : [{ type: 'thinking', thinking: thought, signature: PROOF }]),
  ...(text === undefined ? [] : [{ type: 'text', text }]),
  ...calls.map(({ id, name, arguments: input }) => ({
    type: 'tool_use',
    id,
    name,
    input,
    caller: { type: 'direct' },
  })),
]

const DELTAS: { readonly [type: string]: (block: Loose) => JsonObject[] } = {
  thinking: ({ thinking, signature }) => [
    ...halves(thinking).flatMap(half => (half === '' ? [] : [{ type: 'thinking_delta', thinking: half }])),
    { type: 'signature_delta', signature },
  ],
  text: ({ text }) => halves(text).map(half => ({ type: 'text_delta', text: half })),
  tool_use: ({ input }) =>
    ['', ...halves(JSON.stringify(input))].map(half => ({ type: 'input_json_delta', partial_json: half })),
}

const EMPTY: { readonly [type: string]: JsonObject } = {
  thinking: { thinking: '', signature: '' },
  text: { text: '' },
  tool_use: { input: {} },
}

const event = (value: JsonObject): string => frame(value, value['type'] as string)

const framesOf = (block: JsonObject, index: number): string[] =>
  [
    { type: 'content_block_start', index, content_block: { ...block, ...EMPTY[block['type'] as string] } },
    ...DELTAS[block['type'] as string]!(block).map(delta => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ].map(event)

function hearTurn({ role, content }: JsonObject, names: Map<string, string>): Heard[] {
  const blocks: Loose[] = typeof content === 'string' ? [{ type: 'text', text: content }] : (content as Loose)
  for (const { type, id, name } of blocks) if (type === 'tool_use') names.set(id, name)
  const results = blocks
    .filter(({ type }) => type === 'tool_result')
    .map(block => ({ name: names.get(block.tool_use_id) ?? '?', output: outputOf(block.content) }))
  const said: Heard = {
    role: role as string,
    text: blocks.map(({ type, text }) => (type === 'text' ? text : '')).join(''),
    images: blocks.filter(({ type }) => type === 'image').map(({ source }) => source.data),
    calls: blocks.filter(({ type }) => type === 'tool_use').map(({ name, input }) => ({ name, arguments: input })),
    proofs: blocks.filter(({ type }) => type === 'thinking').map(({ signature }) => signature),
  }
  const isSaid = blocks.some(({ type }) => type !== 'tool_result')
  return [...(results.length === 0 ? [] : [{ role: 'tool', text: '', results }]), ...(isSaid ? [said] : [])]
}

const ERROR_TYPES: { readonly [status: number]: string } = {
  ...{ 400: 'invalid_request_error', 401: 'authentication_error', 403: 'permission_error', 404: 'not_found_error' },
  ...{ 413: 'request_too_large', 429: 'rate_limit_error', 500: 'api_error', 504: 'timeout_error' },
  529: 'overloaded_error',
}

export const messages: UpstreamFormat = {
  whole: scene => ({
    ...HEAD,
    content: blocksOf(scene),
    stop_reason: finish(scene),
    stop_details: null,
    container: null,
    usage: usage(USAGE.output),
  }),
  frames: scene => [
    event({ type: 'message_start', message: { ...HEAD, content: [], stop_reason: null, usage: usage(1) } }),
    event({ type: 'ping' }),
    ...blocksOf(scene).flatMap(framesOf),
    event({
      type: 'message_delta',
      delta: { stop_reason: finish(scene), stop_sequence: null },
      usage: { output_tokens: USAGE.output },
    }),
    event({ type: 'message_stop' }),
  ],
  breakOff: message => event({ type: 'error', error: { type: 'api_error', message } }),
  error: (status, message) => ({
    type: 'error',
    error: { type: ERROR_TYPES[status] ?? 'api_error', message },
    request_id: 'req_up',
  }),
  hear: body => {
    const { messages, system, tools = [], output_config, thinking, max_tokens } = body as Loose
    const names = new Map<string, string>()
    const rules = typeof system === 'string' ? system : (system ?? []).map((block: Loose) => block.text).join('')
    return {
      turns: joined([
        ...(rules === '' ? [] : [{ role: 'system', text: rules }]),
        ...messages.flatMap((turn: JsonObject) => hearTurn(turn, names)),
      ]),
      tools: tools.map((tool: Loose) => tool.name),
      schema: output_config?.format?.schema,
      thinks: thinking !== undefined && thinking.type !== 'disabled',
      limit: max_tokens,
    }
  },
  streams: (_, body) => body['stream'] === true,
}
