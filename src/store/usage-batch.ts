import type { LossKinds } from '../canonical/loss.ts'
import { intervalOf } from './usage/histogram.ts'
import { CANCELLED, type UsageRow } from './usage/row.ts'
import {
  DURATION_OFFSET,
  FIRST_BYTE_OFFSET,
  LATER_OFFSET,
  mergePacked,
  pack,
  type Sum,
  type Sums,
  sumIn,
} from './usage-parts.ts'
import { plainText, type SeriesIndex } from './usage-series.ts'
import type { SeriesRow } from './usage-tables.ts'

/** Length of an hour, in milliseconds. */
export const HOUR = 3_600_000
/** Length of a day, in milliseconds. */
export const DAY = 24 * HOUR

/** Column values of one row, in the order of the insert statement. */
export type Values = (number | string | null)[]

/** Sums by the start of their hour or day, each as the bytes that `pack` returns. */
export type Parts = ReadonlyMap<number, Buffer>

/** Columns of `usage_rows`, in the order of the insert statement. */
export const ROW_COLUMNS = [
  ...(['at', 'id', 'series', 'model', 'upstream_model', 'stream', 'attempts', 'error', 'finish'] as const),
  ...(['upstream_id', 'input', 'output', 'cache_read', 'cache_write', 'reasoning', 'input_audio'] as const),
  ...(['output_audio', 'cost', 'losses', 'read_after', 'sent_after', 'answered_after', 'first_byte_after'] as const),
  ...(['duration', 'tries', 'estimated', 'failure', 'loss_kinds'] as const),
]

/** Maximum number of characters of a request's earlier attempts as JSON. */
const MAX_ATTEMPTS_LENGTH = 4000

/** Maximum number of characters of a failure as JSON. Its message is shorter. */
const MAX_FAILURE_LENGTH = 4000

/** Maximum value of a count in a row, whatever an upstream reports, so that sums fit into 64 bits. */
const MAX_COUNT = 1e11
/** Maximum cost in a row, in nanodollars. */
const MAX_COST = 1e14

/** Rounds a count and limits it to the range from 0 to `max`. */
const boundedCount = (count: number | undefined, max = MAX_COUNT): number | null => {
  if (count === undefined || Number.isNaN(count)) return null
  return count > max ? max : count > 0 ? Math.round(count) : 0
}

/** Rounds a duration to a tenth of a millisecond. */
const roundedTime = (milliseconds: number | undefined): number | null =>
  milliseconds === undefined || !Number.isFinite(milliseconds) ? null : Math.round(milliseconds * 10) / 10

/** Returns a duration as its column has it. */
export const storedDuration = (duration: number): number => roundedTime(duration) ?? 0

/** The sums of a batch of rows, by series, hour and day. */
export class BatchSums {
  readonly series = new Map<number, SeriesRow>()
  private readonly index: SeriesIndex
  private readonly byHour = new Map<number, Sums>()
  private hour = -1
  private sums: Sums = new Map()

  constructor(index: SeriesIndex) {
    this.index = index
  }

  /** Adds a row to the sums and returns its column values, in the order of `ROW_COLUMNS`. */
  add(row: UsageRow): Values {
    const one = this.index.of(row)
    const values = valuesOf(row, one)
    const sums = this.sumsOf(row.at - (row.at % HOUR))
    let sum = sums.get(one.id)
    if (sum === undefined) {
      this.series.set(one.id, one)
      sum = sumIn(sums, one.id)
    }
    addTo(sum, one, values)
    if (row.lossKinds !== undefined) addKinds(sum, row.lossKinds)
    return values
  }

  private sumsOf(hour: number): Sums {
    if (hour === this.hour) return this.sums
    this.hour = hour
    this.sums = this.byHour.get(hour) ?? new Map()
    this.byHour.set(hour, this.sums)
    return this.sums
  }

  /** Packed sums, by hour and by day. */
  get parts(): { readonly hours: Parts; readonly days: Parts } {
    const hours = new Map([...this.byHour].sort(byTime).map(([at, some]) => [at, pack(some)] as const))
    return { hours, days: daysOf(hours) }
  }

  /** Cost in nanodollars by key and day. */
  get spent(): readonly Values[] {
    return costsIn(this.byHour, this.series)
  }
}

type AtTime<T> = readonly [at: number, what: T]

const byTime = ([at]: AtTime<unknown>, [other]: AtTime<unknown>): number => at - other

/** Merges hourly sums into daily sums. A batch usually spans a single hour. */
function daysOf(hours: Parts): Parts {
  const days = new Map<number, Buffer[]>()
  for (const [hour, part] of hours) {
    const day = hour - (hour % DAY)
    const parts = days.get(day)
    if (parts === undefined) days.set(day, [part])
    else parts.push(part)
  }
  return new Map([...days].map(([at, parts]) => [at, parts.length === 1 ? parts[0]! : mergePacked(parts)] as const))
}

/** Returns the cost by key and day, sorted so that two processes cannot deadlock. */
function costsIn(hours: ReadonlyMap<number, Sums>, series: ReadonlyMap<number, SeriesRow>): readonly Values[] {
  const days = new Map<number, Map<string, number>>()
  for (const [hour, sums] of hours) {
    const at = hour - (hour % DAY)
    const day = days.get(at) ?? new Map<string, number>()
    days.set(at, day)
    for (const [id, sum] of sums) {
      const key = series.get(id)!.key_id
      if (key !== null && sum[COST_SUM]! > 0) day.set(key, (day.get(key) ?? 0) + sum[COST_SUM]!)
    }
  }
  return [...days]
    .sort(byTime)
    .flatMap(([at, keys]) => [...keys].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, cost]) => [key, at, cost]))
}

/** Parses the losses by kind of a stored row. */
export function kindsIn(text: string): LossKinds {
  const [dropped = 0, changed = 0, moved = 0] = text.split(',').map(Number)
  return { dropped, changed, moved }
}

/** Returns the column values of a row, in the order of `ROW_COLUMNS`. */
const valuesOf = (row: UsageRow, series: SeriesRow): Values => [
  row.at,
  plainText(row.id)!,
  series.id,
  series.model === null ? plainText(row.model) : null,
  row.upstreamModel === row.model ? null : plainText(row.upstreamModel),
  row.stream ? 1 : 0,
  row.attempts,
  plainText(row.error),
  plainText(row.finish),
  plainText(row.upstreamId),
  boundedCount(row.input),
  boundedCount(row.output),
  boundedCount(row.cacheRead),
  boundedCount(row.cacheWrite),
  boundedCount(row.reasoning),
  boundedCount(row.inputAudio),
  boundedCount(row.outputAudio),
  boundedCount(row.cost, MAX_COST),
  row.losses,
  roundedTime(row.readAfter),
  roundedTime(row.sentAfter),
  roundedTime(row.answeredAfter),
  roundedTime(row.firstByteAfter),
  storedDuration(row.duration),
  row.tries === undefined ? null : triesText(row.tries),
  row.estimated === true ? 1 : 0,
  row.failure === undefined ? null : plainText(JSON.stringify(row.failure), MAX_FAILURE_LENGTH),
  row.lossKinds === undefined ? null : kindsText(row.lossKinds),
]

/** Formats the earlier attempts as JSON, only as many as fit into `MAX_ATTEMPTS_LENGTH` characters. */
function triesText(tries: NonNullable<UsageRow['tries']>): string | null {
  for (let count = tries.length; count > 0; count >>= 1) {
    const text = plainText(JSON.stringify(tries.slice(0, count)), MAX_ATTEMPTS_LENGTH + 1)!
    if (text.length <= MAX_ATTEMPTS_LENGTH) return text
  }
  return null
}

/* Indexes in `ROW_COLUMNS`. The columns from `input` to `cost` have the same order in sums. */

const FIRST_COUNT = ROW_COLUMNS.indexOf('input')
const COST = ROW_COLUMNS.indexOf('cost')
const LOSSES = ROW_COLUMNS.indexOf('losses')
const FIRST_BYTE = ROW_COLUMNS.indexOf('first_byte_after')
const DURATION = ROW_COLUMNS.indexOf('duration')
const ESTIMATED = ROW_COLUMNS.indexOf('estimated')

/* Indexes in a sum, in the order of `SUM_COLUMNS`. */

const REQUESTS = 0
const ERRORS = 1
const COUNTS = 2
const COST_SUM = COUNTS + COST - FIRST_COUNT
const UNPRICED = COST_SUM + 1
const LOSSES_SUM = UNPRICED + 1

const kindsText = ({ dropped, changed, moved }: LossKinds): string => `${dropped},${changed},${moved}`

/** Adds the losses of a row by kind. */
export function addKinds(sum: Sum, { dropped, changed, moved }: LossKinds): void {
  sum[LATER_OFFSET + 2]! += dropped
  sum[LATER_OFFSET + 3]! += changed
  sum[LATER_OFFSET + 4]! += moved
}

function addTo(sum: Sum, { failed, status }: SeriesRow, row: Values): void {
  sum[REQUESTS]!++
  sum[ERRORS]! += failed
  for (let at = FIRST_COUNT; at <= COST; at++) sum[COUNTS + at - FIRST_COUNT]! += (row[at] as number | null) ?? 0
  if (row[COST] === null) sum[UNPRICED]!++
  sum[LOSSES_SUM]! += row[LOSSES] as number
  if (status === CANCELLED) sum[LATER_OFFSET]!++
  sum[LATER_OFFSET + 1]! += row[ESTIMATED] as number
  const firstByte = row[FIRST_BYTE] as number | null
  if (firstByte !== null) sum[FIRST_BYTE_OFFSET + intervalOf(firstByte)]!++
  sum[DURATION_OFFSET + intervalOf(row[DURATION] as number)]!++
}
