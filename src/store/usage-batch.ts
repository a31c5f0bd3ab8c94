import { BOUNDS, INTERVALS, intervalOf } from '../usage/histogram.ts'
import type { UsageRow } from '../usage/row.ts'
import { plainText, type SeriesIndex } from './usage-series.ts'
import type { SeriesRow } from './usage-tables.ts'

export const HOUR = 3_600_000
export const DAY = 24 * HOUR

/** A list of columns' values, in the order of the statement that writes it. */
export type Values = (number | string | null)[]

/** Rows as they are written: what an engine takes as one JSON text per table. */
export interface Batch {
  readonly series: ReadonlyMap<number, SeriesRow>
  readonly rows: readonly Values[]
  readonly hours: readonly Values[]
  readonly days: readonly Values[]
}

export const ROW_COLUMNS = [
  ...(['at', 'id', 'series', 'model', 'upstream_model', 'stream', 'attempts', 'error', 'finish'] as const),
  ...(['upstream_id', 'input', 'output', 'cache_read', 'cache_write', 'reasoning', 'input_audio'] as const),
  ...(['output_audio', 'cost', 'losses', 'read_after', 'sent_after', 'answered_after', 'first_byte_after'] as const),
  ...(['duration', 'tries'] as const),
]

/** Characters of the earlier attempts of one request, as JSON. */
const TRIES = 4000

/** The largest count of a row: no sum of such leaves 64 bits, whatever an upstream counts. */
const MOST = 1e11
const MOST_COST = 1e14

/** A count as it is stored: whole, not negative and bounded. */
const whole = (count: number | undefined, most = MOST): number | null => {
  if (count === undefined || Number.isNaN(count)) return null
  return count > most ? most : count > 0 ? Math.round(count) : 0
}

/** A duration to a tenth of a millisecond. */
const time = (milliseconds: number | undefined): number | null =>
  milliseconds === undefined || !Number.isFinite(milliseconds) ? null : Math.round(milliseconds * 10) / 10

/** Makes of rows what is written: themselves, and their sums by series and hour and day. */
export function batchOf(rows: readonly UsageRow[], index: SeriesIndex): Batch {
  const series = new Map<number, SeriesRow>()
  const hours = new Map<SeriesRow, Values[]>()
  const values: Values[] = []
  for (const row of rows) {
    const one = index.of(row)
    const written = valuesOf(row, one.id)
    values.push(written)
    let sums = hours.get(one)
    if (sums === undefined) {
      series.set(one.id, one)
      sums = []
      hours.set(one, sums)
    }
    addTo(sumAt(sums, row.at - (row.at % HOUR), one.id), one.failed, written)
  }
  const byHour = [...hours.values()].flat().sort(inOrder)
  return { series, rows: values, hours: byHour, days: daysOf(byHour) }
}

/** Two processes write the same sums in the same order, so that neither waits for the other in a circle. */
const inOrder = ([at, series]: Values, [otherAt, other]: Values): number =>
  (at as number) - (otherAt as number) || (series as number) - (other as number)

/** The sum of a series at a time, which is most often that of the row before. */
function sumAt(sums: Values[], at: number, series: number): Values {
  const last = sums.at(-1)
  if (last?.[0] === at) return last
  const known = sums.find(([time]) => time === at)
  if (known !== undefined) return known
  const sum = EMPTY.slice()
  sum[0] = at
  sum[1] = series
  sums.push(sum)
  return sum
}

/** Sums by hour as sums by day. */
function daysOf(hours: readonly Values[]): Values[] {
  const days = new Map<number, Values[]>()
  for (const hour of hours) {
    const at = (hour[0] as number) - ((hour[0] as number) % DAY)
    const series = hour[1] as number
    let sums = days.get(series)
    if (sums === undefined) {
      sums = []
      days.set(series, sums)
    }
    const day = sumAt(sums, at, series)
    for (let place = 2; place < hour.length; place++) {
      const count = hour[place]
      if (count !== null) day[place] = ((day[place] as number | null) ?? 0) + (count as number)
    }
  }
  return [...days.values()].flat().sort(inOrder)
}

/** In the order of `ROW_COLUMNS`. */
const valuesOf = (row: UsageRow, series: number): Values => [
  row.at,
  plainText(row.id)!,
  series,
  row.channel === undefined ? plainText(row.model) : null,
  row.upstreamModel === row.model ? null : plainText(row.upstreamModel),
  row.stream ? 1 : 0,
  row.attempts,
  plainText(row.error),
  plainText(row.finish),
  plainText(row.upstreamId),
  whole(row.input),
  whole(row.output),
  whole(row.cacheRead),
  whole(row.cacheWrite),
  whole(row.reasoning),
  whole(row.inputAudio),
  whole(row.outputAudio),
  whole(row.cost, MOST_COST),
  row.losses,
  time(row.readAfter),
  time(row.sentAfter),
  time(row.answeredAfter),
  time(row.firstByteAfter),
  time(row.duration) ?? 0,
  row.tries === undefined ? null : triesText(row.tries),
]

/** The attempts as JSON: the first of them, as far as they have room. */
function triesText(tries: NonNullable<UsageRow['tries']>): string | null {
  for (let count = tries.length; count > 0; count >>= 1) {
    const text = plainText(JSON.stringify(tries.slice(0, count)), TRIES + 1)!
    if (text.length <= TRIES) return text
  }
  return null
}

/** Where in `ROW_COLUMNS` the counts are that sums have in the same order: `input` to `cost`. */
const FIRST_COUNT = ROW_COLUMNS.indexOf('input')
const COST = ROW_COLUMNS.indexOf('cost')
const LOSSES = ROW_COLUMNS.indexOf('losses')
const FIRST_BYTE = ROW_COLUMNS.indexOf('first_byte_after')
const DURATION = ROW_COLUMNS.indexOf('duration')

/** Where sums have what: time and series, then `SUM_COLUMNS`, then the timings. */
const REQUESTS = 2
const ERRORS = 3
const COUNTS = 4
const UNPRICED = COUNTS + COST - FIRST_COUNT + 1
const TIMINGS = UNPRICED + 2
const EMPTY: Values = [...new Array<number>(TIMINGS).fill(0), ...new Array<null>(2 * INTERVALS).fill(null)]

function addTo(sum: Values, failed: number, row: Values): void {
  const counted = sum as number[]
  counted[REQUESTS]!++
  counted[ERRORS]! += failed
  for (let at = FIRST_COUNT; at <= COST; at++) counted[COUNTS + at - FIRST_COUNT]! += (row[at] as number | null) ?? 0
  if (row[COST] === null) counted[UNPRICED]!++
  counted[UNPRICED + 1]! += row[LOSSES] as number
  count(counted, TIMINGS, row[FIRST_BYTE] as number | null)
  count(counted, TIMINGS + BOUNDS.length + 1, row[DURATION] as number)
}

function count(sum: Values, from: number, milliseconds: number | null): void {
  if (milliseconds === null) return
  const place = from + intervalOf(milliseconds)
  sum[place] = ((sum[place] as number | null) ?? 0) + 1
}
