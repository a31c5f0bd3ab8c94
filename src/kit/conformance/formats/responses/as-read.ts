import { isObject, type Json, type JsonObject, listOf } from '../../json.ts'

/** Fields of an earlier answer that may be left out where it is sent back. */
const LEFT_OUT = { id: 'msg_0', status: 'completed' } as const

const isAnswer = (item: JsonObject): boolean =>
  item['role'] === 'assistant' && listOf(item['content']).some(part => isObject(part) && part['type'] === 'output_text')

/** Fields of parts that have a default: in an answer, and in any message. */
const OF_ANSWERS: { readonly [type: string]: JsonObject } = { output_text: { annotations: [], logprobs: [] } }
const OF_ALL: { readonly [type: string]: JsonObject } = { input_image: { detail: 'auto' } }

function itemAsRead(item: Json): Json {
  if (!isObject(item) || !Array.isArray(item['content'])) return item
  const ofAnswer = isAnswer(item)
  const defaults = ofAnswer ? { ...OF_ALL, ...OF_ANSWERS } : OF_ALL
  const partAsRead = (part: Json): Json => (isObject(part) ? { ...defaults[String(part['type'])], ...part } : part)
  return {
    ...(ofAnswer ? { type: 'message', ...LEFT_OUT } : {}),
    ...item,
    content: listOf(item['content']).map(partAsRead),
  }
}

/**
 * A request as the provider reads it: an answer in the history needs no id, status, annotations or logprobs, and an
 * image no detail, which the published schema requires and the publisher's own clients and examples leave out.
 * Sources: https://github.com/openai/codex/blob/main/codex-rs/protocol/src/models.rs,
 * https://platform.openai.com/docs/guides/images-vision
 */
export const requestAsRead = (body: JsonObject): JsonObject =>
  Array.isArray(body['input']) ? { ...body, input: listOf(body['input']).map(itemAsRead) } : body
