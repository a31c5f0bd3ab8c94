import type { Format, Json, JsonObject } from '../../../src/canonical/node.ts'
import { EVENT_STREAM } from '../../../src/egress/transport/sse.ts'
import type { Answer } from './gateway.ts'
import { times } from './times.ts'

/* Streams and requests that only one format has, one row per shape. */
const stream = (events: readonly JsonObject[]): Answer => ({
  type: EVENT_STREAM.contentType,
  text: events.map(event => EVENT_STREAM.frame({ data: JSON.stringify(event) }, false)).join(''),
})

const chunk = (delta: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
})
const chat = (...deltas: readonly JsonObject[]): Answer =>
  stream([...deltas.map(delta => chunk(delta)), chunk({}, { finish_reason: 'stop' })])
const piece = (index: number, said: JsonObject, more: JsonObject = {}): JsonObject => ({
  tool_calls: [{ index, ...more, function: said }],
})

const responses = (response: JsonObject, ...events: readonly JsonObject[]): Answer => {
  const whole = {
    id: 'r',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'in_progress',
    output: [],
    ...response,
  }
  return stream([
    { type: 'response.created', response: whole },
    ...events,
    { type: 'response.completed', response: { ...whole, status: 'completed' } },
  ])
}
const item = (index: number, wire: JsonObject): readonly JsonObject[] => [
  { type: 'response.output_item.added', output_index: index, item: wire },
  { type: 'response.output_item.done', output_index: index, item: wire },
]
const search = (index: number): JsonObject => ({ type: 'web_search_call', id: `ws_${index}`, status: 'completed' })
const freeform = (index: number): JsonObject => ({
  ...{ type: 'custom_tool_call', id: `ctc_${index}`, call_id: `c${index}`, name: `write_${index}`, input: 'x' },
})

const candidate = (parts: readonly Json[], more: JsonObject = {}): JsonObject => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
})
const contents = (...events: readonly JsonObject[]): Answer =>
  stream([...events, candidate([{ text: '' }], { finishReason: 'STOP' })])
const grounding = (supports: readonly JsonObject[]): JsonObject => ({
  groundingMetadata: {
    groundingChunks: [{ web: { uri: 'https://e.com/', title: 'A page' } }],
    groundingSupports: supports.map(segment => ({ segment, groundingChunkIndices: [0] })),
  },
})

export const RAW_STREAMS: { readonly [name: string]: readonly [from: Format, make: (n: number) => Answer] } = {
  'pieces of a call that name it again': [
    'chat',
    n =>
      chat(
        piece(0, { name: 'look', arguments: '{"a":[' }, { id: 'c' }),
        ...times(n, () => piece(0, { name: 'look', arguments: '1,'.repeat(20) })),
      ),
  ],
  'pieces of a call that could each be the last': [
    'chat',
    n =>
      chat(
        piece(0, { name: 'look', arguments: '{"a":"' }, { id: 'c' }),
        ...times(n, () => piece(0, { name: 'look', arguments: '}' })),
      ),
  ],
  'fields nobody knows, another in each piece': [
    'chat',
    n =>
      chat(
        ...times(n, index => ({ ...piece(0, { arguments: ' ' }, { id: 'c', [`x_${index}`]: 1 }), [`x_${index}`]: 1 })),
      ),
  ],
  'a list nobody knows that grows': [
    'chat',
    n => chat(...times(n, () => ({ content: 'a', x_list: [1, 2, 3, 4, 5, 6, 7, 8] }))),
  ],
  'a call of the time before tools behind others': [
    'chat',
    n =>
      chat(
        ...times(n, index => piece(index, { name: 'look', arguments: '' }, { id: `c${index}` })),
        ...times(n, () => ({ function_call: { name: 'look', arguments: ' ' } })),
      ),
  ],
  'items and events only their own format knows': [
    'responses',
    n =>
      responses(
        {},
        ...times(n, index => item(index, search(index))).flat(),
        ...times(n, index => ({ type: 'response.web_search_call.searching', output_index: 0, item_id: `ws_${index}` })),
        ...times(n, index => ({
          type: 'response.web_search_call.searching',
          output_index: 0,
          item_id: `other_${index}`,
        })),
      ),
  ],
  'pieces of one thought, told as a summary': [
    'responses',
    n =>
      responses(
        {},
        { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs', summary: [] } },
        ...times(n, index => ({
          ...{ type: 'response.reasoning_summary_text.delta', item_id: 'rs', output_index: 0 },
          ...{ summary_index: index, delta: 'hm' },
        })),
      ),
  ],
  'freeform calls and tools of the upstream': [
    'responses',
    n =>
      responses(
        { tools: [{ type: 'x_search' }, ...times(n, index => ({ type: 'function', name: `look_${index}` }))] },
        ...times(n, index => item(index, freeform(index))).flat(),
      ),
  ],
  'texts that are each cited': [
    'contents',
    n =>
      contents(
        ...times(n, index => candidate([{ text: 'a word. ' }, { text: '' }], grounding([{ endIndex: 8 * index + 6 }]))),
      ),
  ],
  'texts in other letters that are each cited, between calls': [
    'contents',
    n =>
      contents(
        ...times(n, index =>
          candidate(
            [{ text: 'ein Wört. ' }, { functionCall: { name: `look_${index}`, args: {} } }],
            grounding([{ startIndex: 11 * index, endIndex: 11 * index + 6 }]),
          ),
        ),
      ),
  ],
  'fields of a block nobody knows, another in each delta': [
    'messages',
    n =>
      stream([
        { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [] } },
        { type: 'content_block_start', index: 0, content_block: { type: 'x_block' } },
        ...times(n, index => ({
          ...{ type: 'content_block_delta', index: 0 },
          delta: { type: 'x_delta', [`x_${index}`]: 1 },
        })),
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
        { type: 'message_stop' },
      ]),
  ],
  'fields of grounding nobody knows, another in each event': [
    'contents',
    n =>
      contents(
        ...times(n, index => candidate([{ text: 'a word. ' }], { groundingMetadata: { [`x_${index}`]: 1 } })),
        candidate([{ text: 'a word. ' }], grounding([{ endIndex: 6 }])),
        ...times(n, index => candidate([{ text: 'a word. ' }], { groundingMetadata: { [`y_${index}`]: 1 } })),
      ),
  ],
  'citations of all that was said so far': [
    'contents',
    n => contents(...times(n, index => candidate([{ text: 'ein Wört. ' }], grounding([{ endIndex: 11 * index + 6 }])))),
  ],
  'citations of a text that has other letters': [
    'contents',
    n =>
      contents(
        candidate([{ text: 'ein Wört. '.repeat(n) }]),
        candidate([], grounding(times(n, index => ({ startIndex: 11 * index, endIndex: 11 * index + 10 })))),
      ),
  ],
  'citations of words that were not said': [
    'contents',
    n =>
      contents(
        candidate([{ text: 'a word. '.repeat(n) }]),
        candidate([], grounding(times(n, index => ({ text: `no ${index}` })))),
      ),
  ],
  'arguments of a call in pieces': [
    'contents',
    n =>
      contents(
        candidate([{ functionCall: { name: 'look', willContinue: true } }]),
        ...times(n, index =>
          candidate([
            { functionCall: { partialArgs: [{ jsonPath: `$.list[${index}]`, stringValue: 'a' }], willContinue: true } },
          ]),
        ),
        candidate([{ functionCall: { partialArgs: [{ jsonPath: '$.text', stringValue: 'a' }] } }]),
      ),
  ],
}

const USER = { role: 'user', content: 'Hi.' }

export const RAW_REQUESTS: { readonly [name: string]: readonly [from: Format, make: (n: number) => JsonObject] } = {
  'notes between texts of the system': [
    'messages',
    n => ({
      max_tokens: 10,
      system: times(n, index => [
        { type: 'text', text: `x-anthropic-billing-header: ${index}` },
        { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
      ]).flat(),
      messages: [USER],
    }),
  ],
  'freeform calls of the upstream in a history': [
    'responses',
    n => ({
      input: [USER, ...times(n, freeform), { role: 'assistant', content: 'Done.' }, USER],
      tools: [
        { type: 'x_search' },
        ...times(n, index => ({ type: 'function', name: `look_${index}`, parameters: null })),
      ],
    }),
  ],
  'pieces of one thought in a history': [
    'responses',
    n => ({
      input: [
        USER,
        { type: 'reasoning', id: 'rs', summary: times(n, index => ({ type: 'summary_text', text: `${index}` })) },
        { role: 'assistant', content: 'Done.' },
        USER,
      ],
    }),
  ],
  'results without ids, by their names': [
    'contents',
    n => ({
      contents: [
        { role: 'user', parts: [{ text: 'Hi.' }] },
        { role: 'model', parts: times(n, index => ({ functionCall: { name: `look_${index}`, args: {} } })) },
        {
          role: 'user',
          parts: times(n, index => ({ functionResponse: { name: `look_${n - 1 - index}`, response: {} } })),
        },
      ],
    }),
  ],
  'results of the time before tools': [
    'chat',
    n => ({
      messages: [
        USER,
        ...times(n, index => [
          { role: 'assistant', content: null, function_call: { name: `look_${index}`, arguments: '{}' } },
          { role: 'function', name: `look_${index}`, content: 'seen' },
        ]).flat(),
      ],
    }),
  ],
}
