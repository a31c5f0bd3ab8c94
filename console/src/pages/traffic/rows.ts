import type { Request } from '../../api/types.ts'
import { matches } from '../../ui/search-box.tsx'
import { isRunning, type Row } from './row.ts'

/** Values of the filter by outcome. Empty for all requests. */
export const ONLY = ['', 'errors', 'losses', 'captured'] as const
export type Only = (typeof ONLY)[number]

/** Filters of the list, all stored in the page's address. */
export interface Filters {
  readonly only: Only
  readonly key: string
  readonly model: string
  readonly channel: string
  readonly format: string
  readonly since: string
  readonly until: string
}

/** Reads the filters from the page's query. */
export const filtersOf = (query: { readonly [name: string]: string }): Filters => ({
  only: ONLY.find(one => one === query['only']) ?? '',
  ...{ key: query['key'] ?? '', model: query['model'] ?? '', channel: query['channel'] ?? '' },
  ...{ format: query['format'] ?? '', since: query['since'] ?? '', until: query['until'] ?? '' },
})

/** API parameters for the filters. */
export const queryOf = ({ only, ...rest }: Filters) => ({
  ...rest,
  only: only === '' ? undefined : only,
})

/** Whether a live row matches the filters. */
export function fits(row: Row, { only, key, model, channel, format, since, until }: Filters): boolean {
  if (key !== '' && row.key !== key) return false
  if (model !== '' && row.model !== model) return false
  if (format !== '' && row.format !== format) return false
  if (until !== '' || (since !== '' && Date.parse(since) > Date.parse(row.at))) return false
  if (only === 'captured' && !row.captured) return false
  if (isRunning(row)) return channel === '' && (only === '' || only === 'captured')
  if (channel !== '' && row.channel !== channel) return false
  if (only === 'errors' && !isFailed(row)) return false
  return only !== 'losses' || row.losses > 0
}

/** Whether a request failed. A request cancelled by its caller (499) did not. */
const isFailed = ({ status, error }: Request): boolean => status !== 499 && (status >= 400 || error !== undefined)

/** Whether a row matches the search text. */
export const isFound = (row: Row, search: string): boolean =>
  search === '' ||
  matches(
    search,
    ...[row.id, row.model, row.key_name, row.group, row.door, row.format],
    ...(isRunning(row) ? [] : [row.channel, row.upstream_model, row.upstream_format, row.error, String(row.status)]),
  )
