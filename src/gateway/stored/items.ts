import { type GatewayError, invalid } from '../../canonical/error.ts'
import { type Format, isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { timedId } from '../../store/usage/request-id.ts'

/** The format whose answers are stored, retrieved and continued. */
export const STORED_FORMAT: Format = 'responses'

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
  return { ...item, id: `${prefix}_kept_${timedId()}` }
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

/** Items that stand for themselves: their ids are internal to their upstream. */
const SELF_CONTAINED: ReadonlySet<string> = new Set([
  ...['message', 'reasoning', 'function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output'],
])

/**
 * The items of a turn as another upstream of the format, or the same at another time, takes them: without ids it would
 * look up, and without reasoning it has no proof of (trap 34). A proof is good where it was made.
 */
export const portable = (items: readonly JsonObject[], from: string | undefined, to: string): readonly JsonObject[] =>
  items.flatMap(item => {
    if (!SELF_CONTAINED.has(typeOf(item))) return [unnamed(item)]
    const { id: _, ...rest } = item
    if (typeOf(item) !== 'reasoning') return [rest]
    return from === to && typeof item['encrypted_content'] === 'string' ? [rest] : []
  })

/**
 * Refuses a continuation that answers calls which were not made: where only new items are sent, such an answer was meant
 * for another conversation, which the caller could not see otherwise.
 *
 * @throws GatewayError `invalid-request`.
 */
export function checkCalls(whole: JsonObject): void {
  const calls = new Set<unknown>()
  for (const { type, call_id } of itemsOf(whole['input'])) {
    const kind = String(type)
    if (kind.endsWith('_call')) calls.add(call_id)
    else if (ANSWERS.has(kind) && !calls.has(call_id)) throw uncalled(call_id)
  }
}

const ANSWERS: ReadonlySet<string> = new Set(['function_call_output', 'custom_tool_call_output'])

const uncalled = (id: unknown): GatewayError =>
  invalid(`No tool call found for the output with call_id ${JSON.stringify(id)}.`, 'input', 'tool_call_not_found')
