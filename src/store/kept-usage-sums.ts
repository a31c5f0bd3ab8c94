import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { defined } from '../canonical/defined.ts'
import { percentilesOf } from '../usage/histogram.ts'
import { partsOf, type Span } from './kept-usage-parts.ts'
import type { Database, Tables } from './tables.ts'
import { DAY, HOUR } from './usage-batch.ts'
import { DURATIONS, emptySum, FIRST_BYTES, type Sum, unpack } from './usage-parts.ts'
import type { UsageField, UsageFilter, UsageGroup, UsageQuery } from './usage-records.ts'
import { type SeriesRow, SUM_COLUMNS } from './usage-tables.ts'

/** The columns of series that fields are. */
const FIELD_COLUMNS: { readonly [F in UsageField]: keyof SeriesRow } = {
  ...{ key: 'key_id', model: 'model', channel: 'channel', format: 'format', upstreamFormat: 'upstream_format' },
  ...{ door: 'door', group: 'group_name', status: 'status' },
}

/** Milliseconds for which sums by hour are kept; those by day are kept for good. */
export const HOURS_KEPT = 60 * DAY

type Where = NonNullable<UsageFilter['where']>

/** Which series are meant; an empty value means those without one. */
export function matches(where: Where) {
  return (row: ExpressionBuilder<Tables, 'usage_series'>): Expression<SqlBool> =>
    row.and(
      Object.entries(where).flatMap(([field, value]) => {
        const column = FIELD_COLUMNS[field as UsageField]
        if (value === undefined || column === undefined) return []
        if (column === 'status') return [row(column, '=', /^\d{3}$/.test(value) ? Number(value) : -1)]
        return [value === '' ? row(column, 'is', null) : row(column, '=', value.replaceAll('\0', ''))]
      }),
    )
}

const floor = (at: number, unit: number): number => Math.floor(at / unit) * unit
const ceiling = (at: number, unit: number): number => Math.ceil(at / unit) * unit

/** Since when there are sums by hour. */
const hoursFrom = (now: number): number => ceiling(now - HOURS_KEPT, DAY)

/** The hours of a time, the latest first, and its days where hours are not kept any more. */
export function hoursOf({ since, until }: UsageFilter, now: number): readonly Span[] {
  const keptFrom = hoursFrom(now)
  return spans([
    ['usage_hours', Math.max(floor(since, HOUR), keptFrom), ceiling(until, HOUR)],
    ['usage_days', floor(since, DAY), Math.min(keptFrom, ceiling(until, DAY))],
  ])
}

/** Which sums cover a time: whole days by day, the rest by hour as far as hours are kept. */
function spansOf({ since, until }: UsageFilter, every: UsageQuery['every'], now: number): readonly Span[] {
  const keptFrom = hoursFrom(now)
  if (every === 'hour') return spans([['usage_hours', floor(since, HOUR), ceiling(until, HOUR)]])
  const from = since < keptFrom || every === 'day' ? floor(since, DAY) : floor(since, HOUR)
  const to = until < keptFrom || every === 'day' ? ceiling(until, DAY) : ceiling(until, HOUR)
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

/** Sums over requests, by whatever fields. The process does other things in between. */
export async function sumsOf(database: Database, query: UsageQuery, now: number): Promise<readonly UsageGroup[]> {
  const { every, where = {}, percentiles = false, limit } = query
  if (limit <= 0) return []
  const fields = [...new Set(query.by)].filter(field => Object.hasOwn(FIELD_COLUMNS, field))
  const series = await database.selectFrom('usage_series').selectAll().where(matches(where)).execute()
  const groups = new Groups(series, fields, percentiles)
  const found: UsageGroup[] = []
  let current: number | undefined
  for (const span of spansOf(query, every, now)) {
    for await (const { at, data } of partsOf(database, span)) {
      if (every !== undefined && at !== current) {
        if (current !== undefined) append(found, groups.taken(current))
        if (found.length >= limit) return found.slice(0, limit)
        current = at
      }
      unpack(data, groups.sumOf, percentiles)
    }
  }
  append(found, groups.taken(current))
  return found.slice(0, limit)
}

function append(all: UsageGroup[], more: readonly UsageGroup[]): void {
  for (const one of more) all.push(one)
}

interface Group {
  readonly by: UsageGroup['by']
  readonly sum: Sum
  keyName: string | undefined
}

/** Groups that series belong to, and what was added up of them. */
class Groups {
  /** What a series is added to; undefined where it is not meant. */
  readonly sumOf: (series: number) => Sum | undefined
  private readonly groups: readonly Group[]
  private readonly percentiles: boolean

  constructor(series: readonly SeriesRow[], fields: readonly UsageField[], percentiles: boolean) {
    const groups = new Map<string, Group>()
    const sums = new Map<number, Sum>()
    for (const one of series) {
      const values = fields.map(field => one[FIELD_COLUMNS[field]])
      const name = JSON.stringify(values)
      const group = groups.get(name) ?? { by: byOf(fields, values), sum: emptySum(), keyName: undefined }
      groups.set(name, group)
      sums.set(Number(one.id), group.sum)
      if (fields.includes('key') && one.key_name !== null && one.key_name > (group.keyName ?? ''))
        group.keyName = one.key_name
    }
    this.sumOf = id => sums.get(id)
    this.percentiles = percentiles
    const value = ({ by }: Group, field: UsageField): string => by[field] ?? ''
    this.groups = [...groups.values()].sort((a, b) => {
      const field = fields.find(one => value(a, one) !== value(b, one))
      return field === undefined ? 0 : value(a, field) < value(b, field) ? -1 : 1
    })
  }

  /** The groups with requests, those of most first; they are empty then. */
  taken(at: number | undefined): UsageGroup[] {
    const used = this.groups.filter(({ sum }) => sum[0]! > 0).sort((a, b) => b.sum[0]! - a.sum[0]!)
    return used.map(group => {
      const told = groupOf(group, at, this.percentiles)
      group.sum.fill(0)
      return told
    })
  }
}

const byOf = (fields: readonly UsageField[], values: readonly (string | number | null)[]): UsageGroup['by'] =>
  Object.fromEntries(fields.flatMap((field, at) => (values[at] === null ? [] : [[field, String(values[at])]])))

const PLACES = Object.fromEntries(SUM_COLUMNS.map((column, at) => [column, at])) as {
  readonly [C in (typeof SUM_COLUMNS)[number]]: number
}

function groupOf({ by, sum, keyName }: Group, at: number | undefined, percentiles: boolean): UsageGroup {
  const value = (column: (typeof SUM_COLUMNS)[number]): number => sum[PLACES[column]]!
  return {
    by,
    ...defined({ at, keyName }),
    ...{ requests: value('requests'), errors: value('errors'), input: value('input'), output: value('output') },
    ...{ cacheRead: value('cache_read'), cacheWrite: value('cache_write'), reasoning: value('reasoning') },
    ...{ inputAudio: value('input_audio'), outputAudio: value('output_audio') },
    ...{ cost: value('cost'), unpriced: value('unpriced'), losses: value('losses') },
    ...(percentiles &&
      defined({
        firstByte: percentilesOf(sum.slice(FIRST_BYTES, DURATIONS)),
        duration: percentilesOf(sum.slice(DURATIONS)),
      })),
  }
}
