import { isObject, type Json, type JsonObject } from '../canonical/node.ts'
import { freshId } from '../gateway/fresh-id.ts'

/** The `input` of a request as a list of items: it may be one text or one item (trap 71). */
export function itemsOf(input: Json | undefined): readonly JsonObject[] {
  if (typeof input === 'string')
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
  if (isObject(input)) return [input]
  return Array.isArray(input) ? input.filter(isObject) : []
}

/** How the ids of items begin, by their type; an output is the answer to its call. */
const PREFIXES: { readonly [type: string]: string } = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  compaction: 'cmp',
  additional_tools: 'at',
}

/** A message needs no type. */
export const typeOf = (item: JsonObject): string => (typeof item['type'] === 'string' ? item['type'] : 'message')

/** The pattern of ids that the gateway generated. */
const OURS = /^[a-z]+_kept_[0-9a-f]{32}$/

/** The item with an id to ask for it by. */
export function named(item: JsonObject): JsonObject {
  if (typeof item['id'] === 'string' && item['id'] !== '') return item
  const type = typeOf(item)
  const prefix = Object.hasOwn(PREFIXES, type) ? PREFIXES[type] : 'item'
  return { ...item, id: `${prefix}_kept_${freshId()}` }
}

/** The item as it came: to an upstream an id of ours would mean something. */
export function unnamed(item: JsonObject): JsonObject {
  if (typeof item['id'] !== 'string' || !OURS.test(item['id'])) return item
  const { id: _, ...rest } = item
  return rest
}

/** Only a pointer to an item that was kept; clients may leave out the type of one. */
export function referenceOf(item: JsonObject): string | undefined {
  const { type, id } = item
  if (typeof id !== 'string') return undefined
  if (type === 'item_reference') return id
  return type == null && Object.keys(item).every(key => key === 'id' || key === 'type') ? id : undefined
}
