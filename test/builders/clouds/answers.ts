import type { JsonObject } from '../../../src/canonical/node.ts'
import { converseFrame, frameBytes, frames } from '../frames.ts'
import type { Script } from '../upstream.ts'

/* Answers of models at clouds, by the path of the request. All say "Hello.". */

export const MESSAGE = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn', stop_sequence: null },
  content: [{ type: 'text', text: 'Hello.' }],
  usage: { input_tokens: 3, output_tokens: 2 },
}
const CHAT = {
  ...{ id: 'a', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
}
const RESPONSE = {
  ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm', error: null },
  output: [
    {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
    },
  ],
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
}
const CONTENT = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
}
const COHERE = {
  ...{
    id: 'c',
    finish_reason: 'COMPLETE',
    message: { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] },
  },
  usage: { billed_units: { input_tokens: 3, output_tokens: 2 }, tokens: { input_tokens: 3, output_tokens: 2 } },
}
export const CONVERSE_USAGE = { inputTokens: 3, outputTokens: 2, totalTokens: 5 }
const CONVERSE = {
  output: { message: { role: 'assistant', content: [{ text: 'Hello.' }] } },
  ...{ stopReason: 'end_turn', usage: CONVERSE_USAGE, metrics: { latencyMs: 1 } },
}

/** The events of a message. */
export const EVENTS: readonly JsonObject[] = [
  { type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]

/** An event of messages as a frame of InvokeModel. */
export const chunkFrame = (event: JsonObject): Buffer => {
  const bytes = Buffer.from(JSON.stringify(event)).toString('base64')
  return frameBytes({ event: 'chunk', data: JSON.stringify({ bytes }) })
}

/** The frames of a stream of Converse. */
export const CONVERSE_FRAMES: readonly Buffer[] = [
  converseFrame('messageStart', { role: 'assistant' }),
  converseFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hello.' } }),
  converseFrame('contentBlockStop', { contentBlockIndex: 0 }),
  converseFrame('messageStop', { stopReason: 'end_turn' }),
  converseFrame('metadata', { usage: CONVERSE_USAGE, metrics: { latencyMs: 1 } }),
]

const sse = (events: readonly JsonObject[]): string =>
  events.map(event => `event: ${event['type']}\ndata: ${JSON.stringify(event)}\n\n`).join('')

/** Bodies by the end of the path. */
const BODIES: readonly (readonly [path: RegExp, body: JsonObject])[] = [
  [/\/model\/[^/]+\/count-tokens$/, { inputTokens: 7 }],
  [/count-tokens|count_tokens/, { input_tokens: 7 }],
  [/:countTokens$/, { totalTokens: 7 }],
  [/\/converse$/, CONVERSE],
  [/\/invoke$|anthropic/, MESSAGE],
  [/publishers\/google|:generateContent/, CONTENT],
  [/\/responses$/, RESPONSE],
  [/^\/v2\/chat$/, COHERE],
  [/./, CHAT],
]

/** Answers a request in the format of its path, whole or streamed. */
export const cloudAnswers: Script = (response, { url, text }) => {
  const path = url.split('?')[0]!
  if (path.endsWith('/converse-stream')) return frames(response).end(Buffer.concat(CONVERSE_FRAMES))
  if (path.endsWith('/invoke-with-response-stream')) return frames(response).end(Buffer.concat(EVENTS.map(chunkFrame)))
  if (/anthropic/.test(path) && JSON.parse(text || '{}').stream === true) {
    response.setHeader('content-type', 'text/event-stream')
    return response.end(sse(EVENTS))
  }
  const [, body] = BODIES.find(([pattern]) => pattern.test(path))!
  response.setHeader('content-type', 'application/json')
  return response.end(JSON.stringify(body))
}
