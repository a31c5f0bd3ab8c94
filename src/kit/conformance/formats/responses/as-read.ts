import { isObject, type Json, type JsonObject, listOf } from '../../json.ts'

/** Fields of an earlier answer that may be omitted when it is sent back. */
const OMITTED_FIELDS = { id: 'msg_0', status: 'completed' } as const

const isAnswer = (item: JsonObject): boolean =>
  item['role'] === 'assistant' && listOf(item['content']).some(part => isObject(part) && part['type'] === 'output_text')

/** Fields of parts with default values: first in answers, then in all messages. */
const ANSWER_PART_DEFAULTS: { readonly [type: string]: JsonObject } = { output_text: { annotations: [], logprobs: [] } }
const PART_DEFAULTS: { readonly [type: string]: JsonObject } = { input_image: { detail: 'auto' } }

function itemAsRead(item: Json): Json {
  if (!isObject(item) || !Array.isArray(item['content'])) return item
  const ofAnswer = isAnswer(item)
  const defaults = ofAnswer ? { ...PART_DEFAULTS, ...ANSWER_PART_DEFAULTS } : PART_DEFAULTS
  const partAsRead = (part: Json): Json => (isObject(part) ? { ...defaults[String(part['type'])], ...part } : part)
  return {
    ...(ofAnswer ? { type: 'message', ...OMITTED_FIELDS } : {}),
    ...item,
    content: listOf(item['content']).map(partAsRead),
  }
}

/**
 * Normalizes a request as the provider reads it. The published schema requires an id, a status, annotations and
 * logprobs for answers in the history, and a detail for images, but the publisher's own clients and examples omit them.
 * Sources: https://github.com/openai/codex/blob/main/codex-rs/protocol/src/models.rs,
 * https://platform.openai.com/docs/guides/images-vision
 */
export const requestAsRead = (body: JsonObject): JsonObject =>
  Array.isArray(body['input']) ? { ...body, input: listOf(body['input']).map(itemAsRead) } : body
