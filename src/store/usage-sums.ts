import type { Database } from './tables.ts'
import { DAY, HOUR } from './usage-batch.ts'
import { type Piece, rowPieces } from './usage-exact.ts'
import { FIELD_COLUMNS, Groups, matches } from './usage-groups.ts'
import { withCurrentNames } from './usage-key-names.ts'
import { partsOf, type Span } from './usage-part-rows.ts'
import { unpack } from './usage-parts.ts'
import type { UsageField, UsageFilter, UsageGroup, UsageQuery } from './usage-records.ts'
import type { SeriesRow } from './usage-tables.ts'

/** Retention of hourly sums, in milliseconds. Daily sums are never deleted. */
export const HOURS_RETENTION = 60 * DAY

const floor = (at: number, unit: number): number => Math.floor(at / unit) * unit
const ceiling = (at: number, unit: number): number => Math.ceil(at / unit) * unit

/** Returns the start of the retained hourly sums at a time. */
export const hoursFrom = (now: number): number => ceiling(now - HOURS_RETENTION, DAY)

/**
 * Returns the ranges that cover a filter, newest first: hours, or days for times whose hours are no longer retained.
 */
export function hoursOf({ since, until }: UsageFilter, now: number): readonly Span[] {
  const retainedFrom = hoursFrom(now)
  return spans([
    ['usage_hours', Math.max(floor(since, HOUR), retainedFrom), ceiling(until, HOUR)],
    ['usage_days', floor(since, DAY), Math.min(retainedFrom, ceiling(until, DAY))],
  ])
}

/**
 * Returns the ranges of sums that cover a filter: daily sums for full days, and hourly sums for the rest as far as they
 * are retained.
 */
function spansOf({ since, until }: UsageFilter, every: UsageQuery['every'] | undefined, now: number): readonly Span[] {
  const retainedFrom = hoursFrom(now)
  if (every === 'hour') return spans([['usage_hours', floor(since, HOUR), ceiling(until, HOUR)]])
  const from = since < retainedFrom || every === 'day' ? floor(since, DAY) : floor(since, HOUR)
  const to = until < retainedFrom || every === 'day' ? ceiling(until, DAY) : ceiling(until, HOUR)
  const [first, last] = [ceiling(from, DAY), floor(to, DAY)]
  if (first >= last) return spans([['usage_hours', from, to]])
  return spans([
    ['usage_hours', from, first],
    ['usage_days', first, last],
    ['usage_hours', last, to],
  ])
}

const spans = (all: readonly (readonly [Span['table'], from: number, to: number])[]): readonly Span[] =>
  all.filter(([, from, to]) => from < to).map(([table, from, to]) => ({ table, from, to }))

/**
 * Sums requests by any fields. Lets the event loop run in between.
 *
 * @throws TooManyRows.
 */
export async function sumsOf(database: Database, query: UsageQuery, now: number): Promise<readonly UsageGroup[]> {
  const groups = await groupsOf(database, query, now)
  return query.by.includes('key') ? withCurrentNames(database, groups) : groups
}

async function groupsOf(database: Database, query: UsageQuery, now: number): Promise<readonly UsageGroup[]> {
  const { every, where = {}, percentiles = false, limit, top } = query
  if (limit <= 0) return []
  const fields = [...new Set(query.by)].filter(field => Object.hasOwn(FIELD_COLUMNS, field))
  const series = await database.selectFrom('usage_series').selectAll().where(matches(where)).execute()
  const readPieces: ReadPieces = range =>
    isExact(query) ? rowPieces(database, range, series) : partPieces(database, range, now)
  const shownNames =
    top && (await topOf(readPieces({ ...query, every: undefined, percentiles: false }), series, fields, top))
  const groups = new Groups(series, fields, { percentiles, shown: shownNames })
  const found: UsageGroup[] = []
  let current: number | undefined
  for await (const { at, addTo } of readPieces(query)) {
    if (every !== undefined && at !== current) {
      if (current !== undefined) append(found, groups.drain(current))
      if (found.length >= limit) return found.slice(0, limit)
      current = at
    }
    addTo(groups.sumOf)
  }
  append(found, groups.drain(current))
  return found.slice(0, limit)
}

type RangeQuery = Omit<UsageQuery, 'every'> & { readonly every?: UsageQuery['every'] | undefined }
type ReadPieces = (query: RangeQuery) => AsyncIterable<Piece>

/** Returns true if the query counts stored rows instead of sums. */
const isExact = ({ exact, every }: UsageQuery): boolean => exact === true || every === 'minute'

/** Returns the names of the groups with the highest rank. */
async function topOf(
  pieces: AsyncIterable<Piece>,
  series: readonly SeriesRow[],
  fields: readonly UsageField[],
  { count, rank }: NonNullable<UsageQuery['top']>,
): Promise<ReadonlySet<string>> {
  const groups = new Groups(series, fields)
  for await (const { addTo } of pieces) addTo(groups.sumOf)
  return groups.top(count, rank)
}

/** Reads the packed sums that a query needs. */
async function* partPieces(database: Database, query: RangeQuery, now: number): AsyncGenerator<Piece> {
  const { percentiles = false, every } = query
  for (const span of spansOf(query, every, now))
    for await (const { at, data } of partsOf(database, span))
      yield { at, addTo: sumOf => unpack(data, sumOf, percentiles) }
}

function append(all: UsageGroup[], more: readonly UsageGroup[]): void {
  for (const one of more) all.push(one)
}
