import type { PageOf, Request } from '../../api/types.ts'
import { isRunning, type Row } from './row.ts'

/** Number of rows beyond which the list does not grow by itself. */
const MOST = 500

/** The loaded rows, newest first. */
export interface List {
  readonly rows: readonly Row[]
  /** True if the oldest rows were dropped. The next page then begins after the last row, not after the last page. */
  readonly isCut: boolean
}

export const EMPTY: List = { rows: [], isCut: false }

/**
 * Merges rows by id, newest first. A finished request replaces the running one.
 *
 * @param most maximum number of rows. By default, the list keeps the length that it has.
 */
export function merged({ rows, isCut }: List, others: readonly Row[], most = Math.max(MOST, rows.length)): List {
  const byId = new Map(rows.map(row => [row.id, row]))
  for (const row of others) {
    const known = byId.get(row.id)
    if (known === undefined) byId.set(row.id, row)
    else if (!isRunning(row)) byId.set(row.id, { ...row, captured: row.captured || known.captured })
  }
  const all = [...byId.values()].sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : a.id < b.id ? 1 : -1))
  return { rows: all.slice(0, most), isCut: isCut || all.length > most }
}

/** Time of the newest finished request. */
export const newestOf = (rows: readonly Row[]): string | undefined => rows.find(row => !isRunning(row))?.at

/**
 * Returns true if requests are missing between the newest ones and those that were known before.
 *
 * @param page the newest requests.
 * @param seen time of the newest request that was known when live updates stopped.
 */
export function isGap({ data, next_cursor: next }: PageOf<Request>, seen: string | undefined): boolean {
  const oldest = data.at(-1)?.at
  return seen !== undefined && next !== undefined && oldest !== undefined && oldest > seen
}

/** The list without the rows before a gap, whose other side is the oldest request of a page. */
export const afterGap = ({ rows }: List, oldest: string): List => ({
  rows: rows.filter(row => row.at >= oldest),
  isCut: false,
})

/** Query for the rows after the list: those of the next page, or those before the last row if rows were dropped. */
export function nextOf({ rows, isCut }: List, cursor: string | undefined) {
  const last = rows.at(-1)
  return isCut && last !== undefined ? { until: new Date(Date.parse(last.at) + 1).toISOString() } : { cursor }
}
