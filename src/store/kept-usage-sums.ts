import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { defined } from '../canonical/defined.ts'
import { percentilesOf } from '../usage/histogram.ts'
import type { Database, Tables } from './tables.ts'
import { DAY, HOUR } from './usage-batch.ts'
import type { UsageField, UsageFilter, UsageGroup, UsageQuery } from './usage-records.ts'
import { DURATION_COLUMNS, FIRST_BYTE_COLUMNS, type SeriesRow, SUM_COLUMNS, TIMING_COLUMNS } from './usage-tables.ts'

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

interface Span {
  readonly table: 'usage_hours' | 'usage_days'
  readonly from: number
  readonly to: number
}

const floor = (at: number, unit: number): number => Math.floor(at / unit) * unit
const ceiling = (at: number, unit: number): number => Math.ceil(at / unit) * unit

/** Which sums cover a time: whole days by day, the rest by hour as far as hours are kept. */
export function spansOf({ since, until }: UsageFilter, every: UsageQuery['every'], now: number): readonly Span[] {
  const keptFrom = ceiling(now - HOURS_KEPT, DAY)
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

/** Sums over requests, by whatever fields. */
export async function sumsOf(database: Database, query: UsageQuery, now: number): Promise<readonly UsageGroup[]> {
  const { by, every, where = {}, percentiles = false, limit } = query
  const parts = spansOf(query, every, now)
  if (parts.length === 0 || limit <= 0) return []
  const fields = [...new Set(by)].filter(field => Object.hasOwn(FIELD_COLUMNS, field))
  const columns = [...SUM_COLUMNS, ...(percentiles ? TIMING_COLUMNS : [])]
  const chosen = sql.join(columns.map(one => sql.ref(one)))
  const unit = every === 'day' ? DAY : HOUR
  const filter = Object.values(where).some(value => value !== undefined)
    ? sql`and series in (${database.selectFrom('usage_series').select('id').where(matches(where))})`
    : sql``
  const sums = sql.join(
    parts.map(
      ({ table, from, to }) =>
        sql`select at, series, ${chosen} from ${sql.table(table)} where at >= ${from} and at < ${to} ${filter}`,
    ),
    sql` union all `,
  )
  const groups = [
    ...(every === undefined ? [] : [sql`sums.at - sums.at % ${sql.lit(unit)}`]),
    ...fields.map(field => sql`${sql.ref(`series.${FIELD_COLUMNS[field]}`)}`),
  ]
  const names = [...(every === undefined ? [] : ['at']), ...fields.map(field => `by_${FIELD_COLUMNS[field]}`)]
  const values = [
    ...groups.map((group, at) => sql`${group} as ${sql.ref(names[at]!)}`),
    ...(fields.includes('key') ? [sql`max(series.key_name) as key_name`] : []),
    ...columns.map(one => sql`sum(${sql.ref(`sums.${one}`)}) as ${sql.ref(one)}`),
  ]
  const join = fields.length === 0 ? sql`` : sql`join usage_series as series on series.id = sums.series`
  const grouped = groups.length === 0 ? sql`` : sql`group by ${sql.join(groups)}`
  const order = sql.join([...(every === undefined ? [] : [sql`1`]), sql`requests desc`, ...groups])
  const { rows } = await sql<SumsRow>`
    select ${sql.join(values)} from (${sums}) as sums ${join} ${grouped} order by ${order} limit ${limit}`.execute(
    database,
  )
  return rows.filter(({ requests }) => requests !== null).map(row => groupOf(row, fields, every !== undefined))
}

/** Columns of whatever was asked for; PostgreSQL has large numbers as texts. */
type SumsRow = { readonly [column: string]: number | string | null }

function groupOf(row: SumsRow, fields: readonly UsageField[], timed: boolean): UsageGroup {
  const sum = (column: string): number => Number(row[column] ?? 0)
  const by = fields.flatMap(field => {
    const value = row[`by_${FIELD_COLUMNS[field]}`]
    return value === null || value === undefined ? [] : [[field, String(value)] as const]
  })
  return {
    by: Object.fromEntries(by),
    ...(timed ? { at: sum('at') } : {}),
    ...(typeof row['key_name'] === 'string' ? { keyName: row['key_name'] } : {}),
    ...{ requests: sum('requests'), errors: sum('errors'), input: sum('input'), output: sum('output') },
    ...{ cacheRead: sum('cache_read'), cacheWrite: sum('cache_write'), reasoning: sum('reasoning') },
    ...{ inputAudio: sum('input_audio'), outputAudio: sum('output_audio') },
    ...{ cost: sum('cost'), unpriced: sum('unpriced'), losses: sum('losses') },
    ...defined({
      firstByte: percentilesOf(FIRST_BYTE_COLUMNS.map(sum)),
      duration: percentilesOf(DURATION_COLUMNS.map(sum)),
    }),
  }
}
