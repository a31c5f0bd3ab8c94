import type { Database } from './tables.ts'
import { matches } from './usage-groups.ts'
import { type Part, PERIOD_MS, partsOf } from './usage-part-rows.ts'
import { emptySum, unpack } from './usage-parts.ts'
import type { RowPage } from './usage-records.ts'
import { plainText } from './usage-series.ts'
import { hoursOf } from './usage-sums.ts'
import { type RequestRow, SUM_COLUMNS } from './usage-tables.ts'

/** Position of a row in the order of rows. */
export type RowPosition = Pick<RequestRow, 'at' | 'id'>

/** Returns the positions of the rows of a page, newest first, plus one if more rows follow. */
export async function positionsOf(database: Database, page: RowPage, now: number): Promise<readonly RowPosition[]> {
  const limit = page.limit + 1
  if (!filtersBySeries(page)) return newestFirst(positionsIn(database, page)).limit(limit).execute()
  const series = new Set((await seriesOf(database, page).execute()).map(({ id }) => Number(id)))
  if (series.size === 0) return []
  const found: RowPosition[] = []
  for await (const periods of periodsOf(database, page, series, now)) {
    for (const position of await positionsAt(database, page, periods, limit)) found.push(position)
    if (found.length >= limit) break
  }
  return found.slice(0, limit)
}

/**
 * Returns true if the filter selects only some series. A series is all requests with the same key, model, channel,
 * format and status; a part is one packed batch of their sums.
 */
const filtersBySeries = ({ where, only }: RowPage): boolean =>
  only === 'errors' || Object.values(where ?? {}).some(value => value !== undefined)

/** A period that has rows of the selected series. */
interface Period {
  readonly since: number
  readonly until: number
  readonly series: Set<number>
}

/** Maximum number of periods per statement. */
const MAX_PERIODS = 24
/** Number of series in the periods of a statement after which the statement is full. */
const MAX_SERIES = 1000

/**
 * Uses sums to find the periods that have rows of a page's series, newest first. Yields enough periods at a time to
 * fill a page.
 */
async function* periodsOf(
  database: Database,
  page: RowPage,
  series: ReadonlySet<number>,
  now: number,
): AsyncGenerator<readonly Period[]> {
  let periods: Period[] = []
  let [rows, seriesCount] = [0, 0]
  for (const span of hoursOf({ since: page.since, until: endOf(page) }, now))
    for await (const part of partsOf(database, span, 'desc')) {
      const isNew = periods.at(-1)?.since !== part.at
      if (isNew && (rows > page.limit || seriesCount > MAX_SERIES || periods.length === MAX_PERIODS)) {
        yield periods
        periods = []
        rows = seriesCount = 0
      }
      const { found, count } = seriesIn(part, page, series)
      if (count === 0) continue
      rows += count
      seriesCount += found.size
      if (isNew) periods.push({ since: part.at, until: part.at + PERIOD_MS[span.table], series: found })
      else for (const id of found) periods.at(-1)!.series.add(id)
    }
  if (periods.length > 0) yield periods
}

/** Returns the given series that a part contains, and a lower bound for the number of their rows. */
function seriesIn({ data }: Part, { only }: RowPage, series: ReadonlySet<number>) {
  const found = new Set<number>()
  const sum = emptySum()
  const sumOf = (id: number) => {
    if (!series.has(id)) return undefined
    found.add(id)
    return sum
  }
  unpack(data, sumOf, false)
  return { found, count: only === 'losses' ? Math.min(1, sum[LOSSES]!) : sum[0]! }
}

/** Index of the losses in a sum. */
const LOSSES = SUM_COLUMNS.indexOf('losses')

/** Reads the positions in several periods with one statement, limited per period. */
async function positionsAt(
  database: Database,
  page: RowPage,
  periods: readonly Period[],
  limit: number,
): Promise<readonly RowPosition[]> {
  const [first, ...others] = periods.map(({ since, until, series }) => {
    const part = { ...page, since: Math.max(since, page.since), until: Math.min(until, page.until) }
    const positions = positionsIn(database, part).where(
      'series',
      'in',
      series.size > MAX_LISTED_SERIES ? seriesOf(database, page) : [...series],
    )
    return database.selectFrom(newestFirst(positions).limit(limit).as('part')).selectAll()
  })
  if (first === undefined) return []
  const all = others.reduce((query, other) => query.unionAll(other), first)
  return newestFirst(all).limit(limit).execute()
}

/** Maximum number of series ids listed per period. If there are more, the statement uses a subquery. */
const MAX_LISTED_SERIES = 200

/** Builds the query for the positions of a page's rows, whatever their series. */
function positionsIn(database: Database, page: RowPage) {
  const position = positionOf(page.after)
  let query = database
    .selectFrom('usage_rows')
    .select(['at', 'id'])
    .where('at', '>=', page.since)
    // One upper bound only: of two, SQLite may seek to the one that is further away.
    .where('at', '<', endOf(page))
  if (position !== undefined)
    query = query.where(row => row.or([row('at', '<', position.at), row('id', '<', position.id)]))
  const { model } = page.where ?? {}
  if (isNamed(model))
    query = query.where(row =>
      row.or([row('model', '=', plainText(model)), row('series', 'in', seriesWith(database, { model }))]),
    )
  return page.only === 'losses' ? query.where('losses', '>', 0) : query
}

/** Returns true if a filter names a model. An empty value selects series without one. */
const isNamed = (model: string | undefined): model is string => model !== undefined && model !== ''

/** Sorts rows newest first. */
const newestFirst = <Q extends { orderBy(column: 'at' | 'id', direction: 'desc'): Q }>(query: Q): Q =>
  query.orderBy('at', 'desc').orderBy('id', 'desc')

/** Returns the end of the period of a page. */
function endOf({ until, after }: Pick<RowPage, 'until' | 'after'>): number {
  const position = positionOf(after)
  return position === undefined ? until : Math.min(until, position.at + 1)
}

/** Builds the query for the ids of the series that a filter selects. */
const seriesWith = (database: Database, where: NonNullable<RowPage['where']>) =>
  database.selectFrom('usage_series').select('usage_series.id').where(matches(where))

/**
 * Builds the query for the ids of the series that may have rows of a page. Series without a model have the rows of
 * requests for which no channel was tried. These name their model themselves (`SeriesModels`).
 */
function seriesOf(database: Database, { where: { model, ...where } = {}, only }: RowPage) {
  const others = seriesWith(database, isNamed(model) || model === undefined ? where : { ...where, model })
  const ids = isNamed(model)
    ? others.where(row => row.or([row('model', '=', plainText(model)), row('model', 'is', null)]))
    : others
  return only === 'errors' ? ids.where('failed', '=', 1) : ids
}

/** Parses the position after which a page continues. An invalid position means the first page. */
function positionOf(after: string | undefined): RowPosition | undefined {
  const match = /^(\d{1,15})\.(.+)$/.exec(after ?? '')
  return match === null ? undefined : { at: Number(match[1]), id: match[2]! }
}
