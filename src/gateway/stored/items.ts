import { type GatewayError, invalid } from '../../canonical/error.ts'
import { type Format, isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { timedId } from '../../store/usage/request-id.ts'

/** Format whose answers are stored, retrieved and continued. */
export const STORED_FORMAT: Format = 'responses'

/** Returns the `input` of a request as a list of items. A string or a single item is allowed (trap 71). */
export function itemsOf(input: Json | undefined): readonly JsonObject[] {
  if (typeof input === 'string')
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
  if (isObject(input)) return [input]
  return Array.isArray(input) ? input.filter(isObject) : []
}

/** Prefixes of item ids by type. */
const ID_PREFIXES: { readonly [type: string]: string } = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  compaction: 'cmp',
  additional_tools: 'at',
}

/** Returns the type of an item. A message may omit it. */
export const typeOf = (item: JsonObject): string => (typeof item['type'] === 'string' ? item['type'] : 'message')

/** Matches item ids that the gateway generated. */
const GATEWAY_ID = /^[a-z]+_kept_[0-9a-f]{32}$/

/** Adds an id to an item without one, so that the item can be referenced. */
export function withId(item: JsonObject): JsonObject {
  if (typeof item['id'] === 'string' && item['id'] !== '') return item
  const type = typeOf(item)
  const prefix = Object.hasOwn(ID_PREFIXES, type) ? ID_PREFIXES[type] : 'item'
  return { ...item, id: `${prefix}_kept_${timedId()}` }
}

/** Removes an id that the gateway generated, because an upstream would look it up. */
export function withoutGatewayId(item: JsonObject): JsonObject {
  if (typeof item['id'] !== 'string' || !GATEWAY_ID.test(item['id'])) return item
  const { id: _, ...rest } = item
  return rest
}

/** Returns the id in a reference to a stored item, whose type clients may omit, or undefined for an actual item. */
export function referenceOf(item: JsonObject): string | undefined {
  const { type, id } = item
  if (typeof id !== 'string') return undefined
  if (type === 'item_reference') return id
  return type == null && Object.keys(item).every(key => key === 'id' || key === 'type') ? id : undefined
}

/** Types of items that are complete without their upstream. Their ids matter only to that upstream. */
const SELF_CONTAINED_TYPES: ReadonlySet<string> = new Set([
  ...['message', 'reasoning', 'function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output'],
])

/**
 * Returns the items of a turn in a form that another upstream of the format, or the same upstream later, accepts.
 * Removes ids that the upstream would look up. Keeps reasoning only if it is encrypted and goes back to the upstream
 * that created it, which alone can read it (trap 34).
 */
export const portable = (items: readonly JsonObject[], from: string | undefined, to: string): readonly JsonObject[] =>
  items.flatMap(item => {
    if (!SELF_CONTAINED_TYPES.has(typeOf(item))) return [withoutGatewayId(item)]
    const { id: _, ...rest } = item
    if (typeOf(item) !== 'reasoning') return [rest]
    return from === to && typeof item['encrypted_content'] === 'string' ? [rest] : []
  })

/**
 * Rejects outputs without a call. Otherwise, a client that sends only new items would unknowingly continue another
 * conversation.
 *
 * @throws GatewayError `invalid-request`.
 */
export function checkCalls(whole: JsonObject): void {
  const calls = new Set<unknown>()
  for (const { type, call_id } of itemsOf(whole['input'])) {
    const kind = String(type)
    if (kind.endsWith('_call')) calls.add(call_id)
    else if (OUTPUT_TYPES.has(kind) && !calls.has(call_id)) throw missingCall(call_id)
  }
}

const OUTPUT_TYPES: ReadonlySet<string> = new Set(['function_call_output', 'custom_tool_call_output'])

const missingCall = (id: unknown): GatewayError =>
  invalid(`No tool call found for the output with call_id ${JSON.stringify(id)}.`, 'input', 'tool_call_not_found')

/** Marks a response as not stored. */
export const markedUnstored = (response: JsonObject): JsonObject => ({ ...response, store: false })
