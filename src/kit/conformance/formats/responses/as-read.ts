import { isObject, type Json, type JsonObject, listOf } from '../../json.ts'

/** Fields of an earlier answer that may be left out where it is sent back. */
const LEFT_OUT = { id: 'msg_0', status: 'completed' } as const

const isAnswer = (item: JsonObject): boolean =>
  item['role'] === 'assistant' && listOf(item['content']).some(part => isObject(part) && part['type'] === 'output_text')

const partAsRead = (part: Json): Json =>
  isObject(part) && part['type'] === 'output_text' ? { annotations: [], logprobs: [], ...part } : part

const itemAsRead = (item: Json): Json =>
  isObject(item) && isAnswer(item)
    ? { type: 'message', ...LEFT_OUT, ...item, content: listOf(item['content']).map(partAsRead) }
    : item

/**
 * A request as the provider reads it: an answer in the history needs no id, status, annotations or logprobs, which the published
 * schema requires and the publisher's own client leaves out.
 * Source: https://github.com/openai/codex/blob/main/codex-rs/protocol/src/models.rs
 */
export const requestAsRead = (body: JsonObject): JsonObject =>
  Array.isArray(body['input']) ? { ...body, input: listOf(body['input']).map(itemAsRead) } : body
