import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Database } from './tables.ts'
import { intervalOf } from './usage/histogram.ts'
import { CANCELLED } from './usage/row.ts'
import { addKinds, HOUR, kindsIn } from './usage-batch.ts'
import { DURATION_OFFSET, FIRST_BYTE_OFFSET, LATER_OFFSET, type Sum } from './usage-parts.ts'
import { TooManyRows, type UsageFilter, type UsageQuery } from './usage-records.ts'
import { type RequestRow, type SeriesRow, SUM_COLUMNS } from './usage-tables.ts'

/** A contribution to sums: a stored row or a packed part, with its time. */
export interface Piece {
  readonly at: number
  readonly addTo: (sumOf: (series: number) => Sum | undefined) => void
}

/** Length of each kind of interval, in milliseconds. */
const INTERVAL_MS = { minute: 60_000, hour: HOUR, day: 24 * HOUR } as const

/** Number of rows per query. The event loop runs between queries. */
const ROWS_PER_QUERY = 1000
/** Maximum number of rows that one request may read. */
const MAX_ROWS = 300_000

/** Maximum number of series ids listed in a statement. If more are selected, the statement reads all series. */
const MAX_LISTED_SERIES = 200

/** Count columns, which have the same names in rows and in sums. */
const COUNTS = ['input', 'output', 'cache_read', 'cache_write', 'reasoning', 'input_audio', 'output_audio'] as const
/** Columns that are read only for percentiles. */
const TIMINGS = ['first_byte_after', 'duration'] as const

const SUM_INDEXES = Object.fromEntries(SUM_COLUMNS.map((column, at) => [column, at])) as {
  readonly [C in (typeof SUM_COLUMNS)[number]]: number
}

/**
 * Reads the stored rows of a period, oldest first, for sums that are exact to the millisecond.
 *
 * @param series the series to include.
 * @param maxRows maximum number of rows.
 * @throws TooManyRows.
 */
export async function* rowPieces(
  database: Database,
  query: UsageFilter & Pick<UsageQuery, 'percentiles'> & { readonly every?: UsageQuery['every'] | undefined },
  series: readonly SeriesRow[],
  maxRows = MAX_ROWS,
): AsyncGenerator<Piece> {
  const byId = new Map(series.map(one => [Number(one.id), one]))
  const unit = query.every === undefined ? 1 : INTERVAL_MS[query.every]
  let count = 0
  for (let after: RowPosition | undefined; ; ) {
    const rows = await chunk(database, query, series, after)
    count += rows.length
    if (count > maxRows) throw new TooManyRows(maxRows)
    for (const row of rows) {
      const id = Number(row.series)
      const at = Number(row.at)
      yield {
        at: at - (at % unit),
        addTo: sumOf => {
          const sum = sumOf(id)
          if (sum !== undefined) add(sum, row, byId.get(id)!)
        },
      }
    }
    if (rows.length < ROWS_PER_QUERY) return
    const { at, id } = rows.at(-1)!
    after = { at: Number(at), id }
    await yieldToEventLoop()
  }
}

type RowPosition = Pick<RequestRow, 'at' | 'id'>

function chunk(
  database: Database,
  { since, until, percentiles = false, where = {} }: UsageFilter & Pick<UsageQuery, 'percentiles'>,
  series: readonly SeriesRow[],
  after: RowPosition | undefined,
) {
  const timings = percentiles ? TIMINGS : []
  let query = database
    .selectFrom('usage_rows')
    .select(['at', 'id', 'series', ...COUNTS, 'cost', 'losses', 'loss_kinds', 'estimated', ...timings])
    .where('at', '>=', after?.at ?? since)
    .where('at', '<', until)
  if (after !== undefined) query = query.where(row => row.or([row('at', '>', after.at), row('id', '>', after.id)]))
  if (Object.keys(where).length > 0 && series.length <= MAX_LISTED_SERIES) {
    const ids = series.map(one => Number(one.id))
    query = query.where('series', 'in', ids.length === 0 ? [-1] : ids)
  }
  return query.orderBy('at').orderBy('id').limit(ROWS_PER_QUERY).execute() as Promise<readonly SummedRow[]>
}

type SummedRow = RowPosition &
  Pick<RequestRow, 'series' | 'cost' | 'losses' | 'loss_kinds' | 'estimated' | (typeof COUNTS)[number]> &
  Partial<Pick<RequestRow, (typeof TIMINGS)[number]>>

function add(sum: Sum, row: SummedRow, { failed, status }: SeriesRow): void {
  sum[SUM_INDEXES.requests]!++
  sum[SUM_INDEXES.errors]! += failed
  if (status === CANCELLED) sum[LATER_OFFSET]!++
  sum[LATER_OFFSET + 1]! += row.estimated
  for (const column of COUNTS) sum[SUM_INDEXES[column]]! += Number(row[column] ?? 0)
  sum[SUM_INDEXES.cost]! += Number(row.cost ?? 0)
  if (row.cost === null) sum[SUM_INDEXES.unpriced]!++
  sum[SUM_INDEXES.losses]! += row.losses
  if (row.loss_kinds !== null) addKinds(sum, kindsIn(row.loss_kinds))
  const { first_byte_after: firstByte = null, duration } = row
  if (firstByte !== null) sum[FIRST_BYTE_OFFSET + intervalOf(firstByte)]!++
  if (duration !== undefined) sum[DURATION_OFFSET + intervalOf(duration)]!++
}
