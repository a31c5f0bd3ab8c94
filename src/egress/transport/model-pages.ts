import { type GatewayError, invalid } from '../../canonical/error.ts'

/*
 * Pages of model lists. A cursor is the last id of the previous page, so models may be added or removed between
 * requests.
 */

/** Query parameters of a model list request. */
export interface ModelQuery {
  readonly [name: string]: string
}

interface NamedRow {
  readonly id: string
}

/** One page of a list. */
export interface Page<T> {
  readonly rows: readonly T[]
  /** True if more rows follow in the direction of the query. */
  readonly more: boolean
}

/**
 * Maximum number of rows per page. Without a requested size, a page has all rows, because clients without paging expect
 * a complete list.
 */
const MAX_ROWS = 1000

/**
 * Selects a page by `limit`, `after_id` and `before_id` (docs/wire/messages.md#model-list).
 *
 * @param rows sorted by id.
 * @throws GatewayError `invalid-request` for an invalid limit, or for both directions at once.
 */
export function idPage<T extends NamedRow>(rows: readonly T[], query: ModelQuery): Page<T> {
  const { limit, after_id: after, before_id: before } = query
  const size = limit === undefined ? undefined : wholeNumber('limit', limit, 1)
  if (size !== undefined && size > MAX_ROWS)
    throw invalidParameter('limit', `must be a whole number from 1 to ${MAX_ROWS}`)
  if (after !== undefined && before !== undefined)
    throw invalidParameter('before_id', 'must not be combined with `after_id`')
  if (before === undefined) return firstRows(rowsAfter(rows, after), size)
  const all = rows.filter(({ id }) => id < before)
  return size === undefined ? firstRows(all, size) : { rows: all.slice(-size), more: all.length > size }
}

/** The parameters for page size and page token, in all their spellings. Errors mention the first one. */
interface TokenParameters {
  readonly size: readonly [string, ...string[]]
  readonly token: readonly [string, ...string[]]
}

/** Google's parameters (docs/wire/contents.md#model-list). */
const GOOGLE_PARAMETERS: TokenParameters = { size: ['pageSize', 'page_size'], token: ['pageToken', 'page_token'] }

/**
 * Selects a page by its size and a token. `next` is the token of the next page, if any.
 *
 * @param rows sorted by id.
 * @throws GatewayError `invalid-request` for an invalid size or token.
 */
export function tokenPage<T extends NamedRow>(
  rows: readonly T[],
  query: ModelQuery,
  names: TokenParameters = GOOGLE_PARAMETERS,
): Page<T> & { readonly next?: string } {
  const statedSize = firstOf(query, names.size)
  const size = statedSize === undefined ? 0 : wholeNumber(names.size[0], statedSize, 0)
  const token = firstOf(query, names.token) ?? ''
  const page = firstRows(
    rowsAfter(rows, token === '' ? undefined : cursorOf(token, names.token[0])),
    size === 0 ? undefined : Math.min(size, MAX_ROWS),
  )
  const last = page.rows.at(-1)
  return page.more && last !== undefined ? { ...page, next: tokenOf(last.id) } : page
}

const firstOf = (query: ModelQuery, names: readonly string[]): string | undefined =>
  names.map(name => query[name]).find(value => value !== undefined)

const firstRows = <T>(rows: readonly T[], size: number | undefined): Page<T> =>
  size === undefined ? { rows, more: false } : { rows: rows.slice(0, size), more: rows.length > size }

const rowsAfter = <T extends NamedRow>(rows: readonly T[], cursor: string | undefined): readonly T[] =>
  cursor === undefined ? rows : rows.filter(({ id }) => id > cursor)

const tokenOf = (id: string): string => Buffer.from(id).toString('base64url')

/** Returns the id that a page token represents. */
function cursorOf(token: string, name: string): string {
  const id = Buffer.from(token, 'base64url').toString()
  if (tokenOf(id) === token) return id
  throw invalidParameter(name, 'is not a valid page token')
}

function wholeNumber(name: string, text: string, minimum: number): number {
  const value = Number(text)
  if (/^\d{1,9}$/.test(text) && value >= minimum) return value
  throw invalidParameter(name, `must be a whole number, ${minimum} or more`)
}

const invalidParameter = (param: string, message: string): GatewayError => invalid(`${param}: ${message}.`, param)
