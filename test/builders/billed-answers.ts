import type { JsonObject } from '../../src/canonical/node.ts'

const chunk = (delta: JsonObject, finish: string | null): JsonObject => ({
  ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up' },
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const chatUsage = (input: number, output: number): JsonObject => ({
  ...{ prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
})
const usage = (input: number, output: number): JsonObject => ({
  ...{ input_tokens: input, output_tokens: output, total_tokens: input + output },
})
/** The model also reads a prompt that Cohere adds, from its cache. Cohere bills neither this prompt nor the end. */
const cohereUsage = (input: number, output: number): JsonObject => ({
  billed_units: { input_tokens: input, output_tokens: output },
  ...{ tokens: { input_tokens: input + 1400, output_tokens: output + 2 }, cached_tokens: 144 },
})
const said = { type: 'output_text', text: 'Hello', annotations: [] }
const item = { type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content: [said] }

/** Answers of an upstream. The facts are what they state about the service tier, where the format has them. */
export interface BilledAnswers {
  whole(input: number, output: number, facts?: JsonObject): JsonObject
  /** Events of a stream. The last one states that the answer is complete. */
  stream?(input: number, output: number, facts?: JsonObject): readonly JsonObject[]
}

/** Answers of upstreams with counted tokens, by format. */
export const BILLED_ANSWERS: { readonly [format: string]: BilledAnswers } = {
  chat: {
    whole: (input, output, facts) => ({
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'up', usage: chatUsage(input, output), ...facts },
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
    }),
    stream: (input, output, facts) => [
      { ...chunk({ role: 'assistant', content: 'Hello' }, null), ...facts },
      { ...chunk({}, 'stop'), ...facts },
      { ...chunk({}, null), ...facts, choices: [], usage: chatUsage(input, output) },
    ],
  },
  messages: {
    whole: (input, output, facts) => ({
      ...{ id: 'm', type: 'message', role: 'assistant', model: 'up', content: [{ type: 'text', text: 'Hello' }] },
      ...{
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: input, output_tokens: output, ...facts },
      },
    }),
    stream: (input, output, facts) => [
      {
        type: 'message_start',
        message: {
          ...{ id: 'm', type: 'message', role: 'assistant', model: 'up', content: [], stop_reason: null },
          usage: { input_tokens: input, output_tokens: 1, ...facts },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: output } },
      { type: 'message_stop' },
    ],
  },
  responses: {
    whole: (input, output, facts) => ({
      ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'up', ...facts },
      ...{ output: [item], usage: usage(input, output) },
    }),
    stream: (input, output, facts) => {
      const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'up', output: [], ...facts }
      const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
      return [
        { type: 'response.created', response: { ...response, status: 'in_progress' } },
        { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
        { type: 'response.content_part.added', ...place, part: { ...said, text: '' } },
        { type: 'response.output_text.delta', ...place, delta: 'Hello' },
        { type: 'response.output_text.done', ...place, text: 'Hello' },
        { type: 'response.content_part.done', ...place, part: said },
        { type: 'response.output_item.done', output_index: 0, item },
        {
          type: 'response.completed',
          response: { ...response, status: 'completed', output: [item], usage: usage(input, output) },
        },
      ]
    },
  },
  contents: {
    whole: (input, output, facts) => ({
      candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }],
      usageMetadata: {
        ...{ promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
        ...facts,
      },
    }),
    stream: (input, output, facts) => [
      { candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Hel' }] } }] },
      {
        candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'lo' }] }, finishReason: 'STOP' }],
        usageMetadata: {
          ...{ promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
          ...facts,
        },
      },
    ],
  },
  'cohere-chat': {
    whole: (input, output) => ({
      ...{ id: 'c', finish_reason: 'COMPLETE', usage: cohereUsage(input, output) },
      message: { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
    }),
    stream: (input, output) => [
      { type: 'message-start', id: 'c', delta: { message: { role: 'assistant', content: [], tool_calls: [] } } },
      { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
      { type: 'content-delta', index: 0, delta: { message: { content: { text: 'Hello' } } } },
      { type: 'content-end', index: 0 },
      { type: 'message-end', delta: { finish_reason: 'COMPLETE', usage: cohereUsage(input, output) } },
    ],
  },
  embeddings: {
    whole: input => ({
      ...{ object: 'list', model: 'up', usage: { prompt_tokens: input, total_tokens: input } },
      data: [0, 1].map(index => ({ object: 'embedding', index, embedding: [0.5, 0.5] })),
    }),
  },
}

/** Writes an event of a stream. */
export const eventText = (event: JsonObject): string =>
  `${typeof event['type'] === 'string' ? `event: ${event['type']}\n` : ''}data: ${JSON.stringify(event)}\n\n`
