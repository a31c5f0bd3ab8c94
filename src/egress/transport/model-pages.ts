import { type GatewayError, invalid } from '../../canonical/error.ts'

/* Pages of model lists. A place in a list is the id before it, so that models may come and go between two pages. */

export interface ModelQuery {
  readonly [name: string]: string
}

interface Named {
  readonly id: string
}

export interface Page<T> {
  readonly rows: readonly T[]
  /** There are others, in the direction of the query. */
  readonly more: boolean
}

/** The most rows of a page; without a size it has all, as clients without paging expect. */
const MOST = 1000

/**
 * `limit`, `after_id` and `before_id` (docs/wire/messages.md#model-list).
 *
 * @param rows sorted by id.
 * @throws GatewayError `invalid-request` for a limit that is none, or both directions at once.
 */
export function idPage<T extends Named>(rows: readonly T[], query: ModelQuery): Page<T> {
  const { limit, after_id: after, before_id: before } = query
  const size = limit === undefined ? undefined : wholeNumber('limit', limit, 1)
  if (size !== undefined && size > MOST) throw wrong('limit', `must be a whole number from 1 to ${MOST}`)
  if (after !== undefined && before !== undefined) throw wrong('before_id', 'must not stand beside `after_id`')
  if (before === undefined) return first(behind(rows, after), size)
  const all = rows.filter(({ id }) => id < before)
  return size === undefined ? first(all, size) : { rows: all.slice(-size), more: all.length > size }
}

/**
 * `pageSize` and `pageToken` (docs/wire/contents.md#model-list), and the token of the next page, if there is one.
 *
 * @param rows sorted by id.
 * @throws GatewayError `invalid-request` for a size or token that is none.
 */
export function tokenPage<T extends Named>(
  rows: readonly T[],
  query: ModelQuery,
): Page<T> & { readonly next?: string } {
  const given = query['pageSize'] ?? query['page_size']
  const size = given === undefined ? 0 : wholeNumber('pageSize', given, 0)
  const token = query['pageToken'] ?? query['page_token'] ?? ''
  const page = first(
    behind(rows, token === '' ? undefined : placeOf(token)),
    size === 0 ? undefined : Math.min(size, MOST),
  )
  const last = page.rows.at(-1)
  return page.more && last !== undefined ? { ...page, next: tokenOf(last.id) } : page
}

const first = <T>(rows: readonly T[], size: number | undefined): Page<T> =>
  size === undefined ? { rows, more: false } : { rows: rows.slice(0, size), more: rows.length > size }

const behind = <T extends Named>(rows: readonly T[], place: string | undefined): readonly T[] =>
  place === undefined ? rows : rows.filter(({ id }) => id > place)

const tokenOf = (id: string): string => Buffer.from(id).toString('base64url')

function placeOf(token: string): string {
  const id = Buffer.from(token, 'base64url').toString()
  if (tokenOf(id) === token) return id
  throw wrong('pageToken', 'is no token of a page')
}

function wholeNumber(name: string, text: string, least: number): number {
  const value = Number(text)
  if (/^\d{1,9}$/.test(text) && value >= least) return value
  throw wrong(name, `must be a whole number, ${least} or more`)
}

const wrong = (param: string, message: string): GatewayError => invalid(`${param}: ${message}.`, param)
