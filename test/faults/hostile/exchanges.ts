import type { JsonObject } from '../../../src/canonical/node.ts'
import { type ChannelFields, channelAt } from '../../builders/config.ts'
import { converseFrame, framesIn } from '../../builders/frames.ts'
import { dataOf } from '../../builders/http.ts'

/* One request of each endpoint, and what an upstream of the same format answers. */

/** Pieces of a stream: its start, a text, and its end. */
export interface StreamPieces {
  readonly path: string
  readonly body: JsonObject
  readonly type: string
  readonly head: Buffer
  word(text: string): Buffer
  readonly tail: Buffer
  /** Returns the texts in an answer to the caller. */
  textIn(answer: Buffer): string
}

export interface EndpointRow {
  readonly format: string
  readonly path: string
  readonly body: JsonObject
  /** Position of the version in the address of an upstream. */
  readonly base: '' | '/v1'
  /** Returns an answer that contains a text, if the format has texts. */
  answer(text: string): JsonObject
  readonly stream?: StreamPieces
}

const USAGE = { input_tokens: 3, output_tokens: 2 }
const said = (text: string) => ({ role: 'assistant', content: text })

/** Builds the text of a server-sent event. */
const event = (value: JsonObject | string, name?: string): Buffer =>
  Buffer.from(
    `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`,
  )

const DONE = event('[DONE]')
const SSE = 'text/event-stream'

/** Returns a function that joins the texts which `find` finds in the events of an answer. */
const textOfEvents =
  (find: (event: Loose) => unknown) =>
  (answer: Buffer): string =>
    dataOf(answer.toString())
      .filter(data => data.startsWith('{'))
      .map(data => find(JSON.parse(data)) ?? '')
      .join('')

// biome-ignore lint/suspicious/noExplicitAny: events of many shapes
type Loose = any

const chatChunk = (choice: JsonObject): Buffer =>
  event({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, finish_reason: null, ...choice }],
  })

const chat: EndpointRow = {
  format: 'chat',
  path: '/v1/chat/completions',
  base: '/v1',
  body: { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
  answer: text => ({
    ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
    choices: [{ index: 0, message: said(text), finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  }),
  stream: {
    path: '/v1/chat/completions',
    body: { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true },
    type: SSE,
    head: chatChunk({ delta: { role: 'assistant', content: '' } }),
    word: content => chatChunk({ delta: { content } }),
    tail: Buffer.concat([chatChunk({ delta: {}, finish_reason: 'stop' }), DONE]),
    textIn: textOfEvents(({ choices }) => choices?.[0]?.delta?.content),
  },
}

const completion = (choice: JsonObject): JsonObject => ({
  ...{ id: 'c', object: 'text_completion', created: 1, model: 'm' },
  choices: [{ index: 0, logprobs: null, finish_reason: null, ...choice }],
})

const completions: EndpointRow = {
  format: 'completions',
  path: '/v1/completions',
  base: '/v1',
  body: { model: 'm', prompt: 'Hi' },
  answer: text => ({
    ...completion({ text, finish_reason: 'stop' }),
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  }),
  stream: {
    path: '/v1/completions',
    body: { model: 'm', prompt: 'Hi', stream: true },
    type: SSE,
    head: event(completion({ text: '' })),
    word: text => event(completion({ text })),
    tail: Buffer.concat([event(completion({ text: '', finish_reason: 'stop' })), DONE]),
    textIn: textOfEvents(({ choices }) => choices?.[0]?.text),
  },
}

const block = (index: number, more: JsonObject, type: string): Buffer => event({ type, index, ...more }, type)

const messages: EndpointRow = {
  format: 'messages',
  path: '/v1/messages',
  base: '',
  body: { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
  answer: text => ({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [{ type: 'text', text }] },
    ...{ stop_reason: 'end_turn', stop_sequence: null, usage: USAGE },
  }),
  stream: {
    path: '/v1/messages',
    body: { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], stream: true },
    type: SSE,
    head: Buffer.concat([
      event(
        {
          type: 'message_start',
          message: {
            ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] },
            ...{ stop_reason: null, stop_sequence: null, usage: USAGE },
          },
        },
        'message_start',
      ),
      block(0, { content_block: { type: 'text', text: '' } }, 'content_block_start'),
    ]),
    word: text => block(0, { delta: { type: 'text_delta', text } }, 'content_block_delta'),
    tail: Buffer.concat([
      block(0, {}, 'content_block_stop'),
      event(
        { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: USAGE },
        'message_delta',
      ),
      event({ type: 'message_stop' }, 'message_stop'),
    ]),
    textIn: textOfEvents(({ delta }) => delta?.text),
  },
}

const candidate = (text: string, more: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...more }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
})

const contents: EndpointRow = {
  format: 'contents',
  path: '/v1beta/models/m:generateContent',
  base: '',
  body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  answer: text => candidate(text, { finishReason: 'STOP' }),
  stream: {
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    type: SSE,
    head: Buffer.alloc(0),
    word: text => event(candidate(text)),
    tail: event(candidate('', { finishReason: 'STOP' })),
    textIn: textOfEvents(({ candidates }) =>
      candidates?.[0]?.content?.parts?.map((part: Loose) => part.text ?? '').join(''),
    ),
  },
}

const converse: EndpointRow = {
  format: 'converse',
  path: '/model/m/converse',
  base: '',
  body: { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] },
  answer: text => ({
    output: { message: { role: 'assistant', content: [{ text }] } },
    ...{
      stopReason: 'end_turn',
      usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
      metrics: { latencyMs: 1 },
    },
  }),
  stream: {
    path: '/model/m/converse-stream',
    body: { messages: [{ role: 'user', content: [{ text: 'Hi' }] }] },
    type: 'application/vnd.amazon.eventstream',
    head: converseFrame('messageStart', { role: 'assistant' }),
    word: text => converseFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text } }),
    tail: Buffer.concat([
      converseFrame('contentBlockStop', { contentBlockIndex: 0 }),
      converseFrame('messageStop', { stopReason: 'end_turn' }),
      converseFrame('metadata', {
        usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
        metrics: { latencyMs: 1 },
      }),
    ]),
    textIn: answer =>
      framesIn(answer)
        .map(({ data }) => data.delta?.text ?? '')
        .join(''),
  },
}

const cohereChat: EndpointRow = {
  format: 'cohere-chat',
  path: '/v2/chat',
  base: '',
  body: { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
  answer: text => ({
    ...{ id: 'a', finish_reason: 'COMPLETE', message: { role: 'assistant', content: [{ type: 'text', text }] } },
    usage: { tokens: USAGE },
  }),
  stream: {
    path: '/v2/chat',
    body: { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true },
    type: SSE,
    head: Buffer.concat([
      event({ type: 'message-start', id: 'a', delta: { message: { role: 'assistant' } } }, 'message-start'),
      block(0, { delta: { message: { content: { type: 'text', text: '' } } } }, 'content-start'),
    ]),
    word: text => block(0, { delta: { message: { content: { text } } } }, 'content-delta'),
    tail: Buffer.concat([
      block(0, {}, 'content-end'),
      event({ type: 'message-end', delta: { finish_reason: 'COMPLETE', usage: { tokens: USAGE } } }, 'message-end'),
    ]),
    textIn: textOfEvents(({ delta }) => delta?.message?.content?.text),
  },
}

const INTERACTION = { id: 'v1_up', object: 'interaction', model: 'm' }
const step = (type: string, more: JsonObject): Buffer =>
  event({ event_type: type, index: 0, event_id: 'e', ...more }, type)

const interactions: EndpointRow = {
  format: 'interactions',
  path: '/v1beta/interactions',
  base: '',
  body: { model: 'm', input: 'Hi', store: false },
  answer: text => ({
    ...{ ...INTERACTION, status: 'completed' },
    steps: [{ type: 'model_output', content: [{ type: 'text', text }] }],
    usage: { total_input_tokens: 3, total_output_tokens: 2, total_tokens: 5 },
  }),
  stream: {
    path: '/v1beta/interactions',
    body: { model: 'm', input: 'Hi', store: false, stream: true },
    type: SSE,
    head: Buffer.concat([
      event(
        { event_type: 'interaction.created', event_id: 'e', interaction: { ...INTERACTION, status: 'in_progress' } },
        'interaction.created',
      ),
      step('step.start', { step: { type: 'model_output' } }),
    ]),
    word: text => step('step.delta', { delta: { type: 'text', text } }),
    tail: Buffer.concat([
      step('step.stop', {}),
      event(
        { event_type: 'interaction.completed', event_id: 'e', interaction: { ...INTERACTION, status: 'completed' } },
        'interaction.completed',
      ),
      event('[DONE]', 'done'),
    ]),
    textIn: textOfEvents(({ delta }) => delta?.text),
  },
}

const embeddings: EndpointRow = {
  format: 'embeddings',
  path: '/v1/embeddings',
  base: '/v1',
  body: { model: 'm', input: ['a', 'b'] },
  answer: () => ({
    ...{ object: 'list', model: 'm', usage: { prompt_tokens: 2, total_tokens: 2 } },
    data: [0, 1].map(index => ({ object: 'embedding', index, embedding: [0.25, -0.5] })),
  }),
}

const rerank: EndpointRow = {
  format: 'rerank',
  path: '/v1/rerank',
  base: '/v1',
  body: { model: 'm', query: 'q', documents: ['a', 'b'], return_documents: true },
  answer: text => ({
    ...{ id: 'r', model: 'm', usage: { total_tokens: 2 } },
    results: [1, 0].map(index => ({ index, relevance_score: index + 0.5, document: { text } })),
  }),
}

/** All rows, by format. */
export const ENDPOINTS: readonly EndpointRow[] = [
  ...[chat, completions, messages, contents, converse, cohereChat, interactions, embeddings, rerank],
]

/** The rows as arguments of `test.each`, with the format first. */
export const EACH: readonly (readonly [string, EndpointRow])[] = ENDPOINTS.map(row => [row.format, row] as const)

/** Rows whose answers may be streams. */
export const STREAMED = ENDPOINTS.flatMap(row =>
  row.stream === undefined ? [] : [[row.format, row, row.stream] as const],
)

/** A channel of the row's format. */
export const channelFor = ({ format, base }: EndpointRow, address: string, fields: ChannelFields = {}) =>
  channelAt(address, { format, baseUrl: `${address}${base}`, ...fields })

/** Headers that a caller of the format sends. */
export const headersOf = ({ format }: EndpointRow): { readonly [name: string]: string } =>
  format === 'messages'
    ? { 'anthropic-version': '2023-06-01' }
    : format === 'interactions'
      ? { 'api-revision': '2026-05-20' }
      : {}
