import { invalid } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { typeOf } from './items.ts'

/** The requested part of a list. */
export interface Page {
  readonly limit: number
  /** Order of the items: `asc` for oldest first, `desc` for latest first. */
  readonly order: 'asc' | 'desc'
  /** Id after which the page starts. */
  readonly after: string | undefined
}

const MAX_LIMIT = 100
const DEFAULT_LIMIT = 20

/** Reads the page parameters of a query. Throws GatewayError `invalid-request` if they are invalid. */
export function pageOf(query: { readonly [name: string]: string }): Page {
  const limit = query['limit'] === undefined ? DEFAULT_LIMIT : Number(query['limit'])
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw invalid(`\`limit\` must be a whole number from 1 to ${MAX_LIMIT}.`, 'limit')
  const order = query['order'] ?? 'desc'
  if (order !== 'asc' && order !== 'desc') throw invalid('`order` must be `asc` or `desc`.', 'order')
  return { limit, order, after: query['after'] === '' ? undefined : query['after'] }
}

/** Selects a page from items in ascending order (docs/wire/responses.md#stored-responses). */
export function paged(items: readonly JsonObject[], { limit, order, after }: Page): JsonObject {
  const inOrder = order === 'asc' ? items : items.toReversed()
  const index = after === undefined ? -1 : inOrder.findIndex(({ id }) => id === after)
  if (after !== undefined && index < 0) throw invalid(`There is no item '${after}' in this list.`, 'after')
  const data = inOrder.slice(index + 1, index + 1 + limit)
  return {
    object: 'list',
    data,
    first_id: data[0]?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
    has_more: index + 1 + limit < inOrder.length,
  }
}

/** Returns an item in the form that lists show. Messages get a type, a status, and parts instead of a string. */
export function shownItem(item: JsonObject): JsonObject {
  if (typeOf(item) !== 'message') return item
  const { content, role } = item
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  const part = { type, text: content ?? '', ...(type === 'output_text' ? { annotations: [] } : {}) }
  const parts = typeof content === 'string' ? [part] : (content ?? [])
  return { status: 'completed', ...item, type: 'message', content: parts }
}
