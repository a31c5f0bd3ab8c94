import { isObject, type Json, type JsonObject, stringIn, withMappedItems } from '../../canonical/node.ts'
import { flatJoin } from '../../canonical/text.ts'

/*
 * Defaults for the fields that every answer of this format has. Strict clients cannot read an answer in which the
 * upstream omitted some (docs/wire/responses.md#response-object, OpenResponses 2026-04-24). Existing values are
 * unchanged, and a complete object is returned as is. In fields that are never null, null counts as absent.
 */

/** Returns true if the object lacks the field. Null counts as absent unless the default is null. */
export const lacks = (object: JsonObject, field: string, fallback: Json): boolean =>
  object[field] === undefined || (object[field] === null && fallback !== null)

/** Adds missing fields from `entries`. Returns the same object if none is missing. */
export function withDefaults(object: JsonObject, entries: JsonObject): JsonObject {
  let completeObject: { [key: string]: Json } | undefined
  for (const key in entries)
    if (lacks(object, key, entries[key]!)) (completeObject ??= { ...object })[key] = entries[key]!
  return completeObject ?? object
}

/** The index of an item in the output, and its status. */
interface ItemPosition {
  /** Base of generated ids. */
  readonly base: string
  readonly index: number
  readonly status: string
}

/** Properties shared by all items of one type. */
interface ItemRow {
  /** The prefix of generated ids. */
  readonly prefix: string
  readonly hasStatus?: true
  /** True if the item has a `call_id`, which the caller's result refers to. */
  readonly hasCallId?: true
  readonly entries?: JsonObject
}

/** Known item types. */
const ITEMS: { readonly [type: string]: ItemRow } = {
  message: { prefix: 'msg', hasStatus: true, entries: { type: 'message', role: 'assistant', content: [] } },
  reasoning: { prefix: 'rs', entries: { summary: [] } },
  function_call: { prefix: 'fc', hasStatus: true, hasCallId: true, entries: { arguments: '{}' } },
  custom_tool_call: { prefix: 'ctc', hasStatus: true, hasCallId: true, entries: { input: '' } },
  image_generation_call: { prefix: 'ig', hasStatus: true, entries: { result: null } },
  web_search_call: { prefix: 'ws', hasStatus: true },
  file_search_call: { prefix: 'fs', hasStatus: true },
  code_interpreter_call: { prefix: 'ci', hasStatus: true },
  computer_call: { prefix: 'cu', hasStatus: true },
  local_shell_call: { prefix: 'lsh', hasStatus: true },
  shell_call: { prefix: 'sh', hasStatus: true },
  apply_patch_call: { prefix: 'apc', hasStatus: true },
  tool_search_call: { prefix: 'tsc', hasStatus: true },
  mcp_call: { prefix: 'mcp', hasStatus: true },
  mcp_list_tools: { prefix: 'mcpl' },
  mcp_approval_request: { prefix: 'mcpr' },
  compaction: { prefix: 'cmp' },
}
const OTHER_ITEM: ItemRow = { prefix: 'item' }

/** Returns a generated id for an item. */
export const idAt = (prefix: string, base: string, index: number): string => flatJoin(prefix, '_', base, '_', index)

/** Completes an item of an answer: its id, its parts, and its status if its type has one. */
export function itemWithDefaults(item: JsonObject, { base, index, status }: ItemPosition): JsonObject {
  const type = item['type'] ?? (item['role'] === undefined ? '' : 'message')
  const row = typeof type === 'string' && Object.hasOwn(ITEMS, type) ? ITEMS[type]! : OTHER_ITEM
  const { prefix, hasStatus, hasCallId, entries = NO_FIELDS } = row
  let completeObject = withDefaults(item, entries)
  if (completeObject['id'] == null) completeObject = { ...completeObject, id: idAt(prefix, base, index) }
  if (hasStatus && completeObject['status'] == null) completeObject = { ...completeObject, status }
  if (hasCallId && completeObject['call_id'] == null)
    completeObject = { ...completeObject, call_id: item['id'] ?? idAt('call', base, index) }
  return row === ITEMS['message'] ? withMappedItems(completeObject, 'content', partWithDefaults) : completeObject
}

const NO_FIELDS: JsonObject = {}

const PARTS: { readonly [type: string]: JsonObject } = {
  output_text: { annotations: [], logprobs: [] },
  refusal: { refusal: '' },
}

/** Completes a part of a message in an answer. */
export function partWithDefaults(part: JsonObject): JsonObject {
  const type = stringIn(part['type'])
  const completeObject = Object.hasOwn(PARTS, type) ? withDefaults(part, PARTS[type]!) : part
  return type === 'output_text' ? withMappedItems(completeObject, 'logprobs', tokenWithDefaults) : completeObject
}

const ALTERNATIVE: JsonObject = { bytes: [] }
const TOKEN: JsonObject = { ...ALTERNATIVE, top_logprobs: [] }

/** Completes the log probabilities of a token and its alternatives. */
export const tokenWithDefaults = (token: JsonObject): JsonObject =>
  withMappedItems(withDefaults(token, TOKEN), 'top_logprobs', alternative => withDefaults(alternative, ALTERNATIVE))

/** Fields that every function has in an answer. */
export const FUNCTION: JsonObject = { description: null, parameters: null, strict: false }

const TEXT: JsonObject = { format: { type: 'text' } }
const REASONING: JsonObject = { effort: null, summary: null }

/** Adds default fields to objects inside a response: its usage and the settings that it repeats. */
export function innerDefaults(response: JsonObject): JsonObject {
  const { text, reasoning, usage } = response
  const completeObject = withMappedItems(response, 'tools', tool =>
    tool['type'] === 'function' ? withDefaults(tool, FUNCTION) : tool,
  )
  const inner = {
    ...innerChange('text', text, TEXT),
    ...innerChange('reasoning', reasoning, REASONING),
    ...(isObject(usage) ? fieldIfChanged('usage', usage, usageWithDefaults(usage)) : NO_FIELDS),
  }
  for (const _ in inner) return { ...completeObject, ...inner }
  return completeObject
}

const innerChange = (field: string, value: Json | undefined, entries: JsonObject): JsonObject =>
  isObject(value) ? fieldIfChanged(field, value, withDefaults(value, entries)) : NO_FIELDS

const fieldIfChanged = (field: string, before: JsonObject, after: JsonObject): JsonObject =>
  before === after ? NO_FIELDS : { [field]: after }

/** Token counts of a response without usage. Unknown counts are zero (trap 25). */
export const NO_TOKENS: JsonObject = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
}

function usageWithDefaults(usage: JsonObject): JsonObject {
  let completeObject = withDefaults(usage, NO_TOKENS)
  for (const field of ['input_tokens_details', 'output_tokens_details']) {
    const details = completeObject[field]
    if (isObject(details))
      completeObject = { ...completeObject, ...innerChange(field, details, NO_TOKENS[field] as JsonObject) }
  }
  const { input_tokens, output_tokens } = completeObject
  return withDefaults(completeObject, { total_tokens: countOf(input_tokens) + countOf(output_tokens) })
}

/** Returns a token count, or zero for any other value. */
const countOf = (value: Json | undefined): number => (typeof value === 'number' ? value : 0)
