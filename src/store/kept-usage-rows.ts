import { defined } from '../canonical/defined.ts'
import { timeOfId } from '../usage/request-id.ts'
import type { UsageRow, UsageTry } from '../usage/row.ts'
import { partsOf, UNITS } from './kept-usage-parts.ts'
import { hoursOf, matches } from './kept-usage-sums.ts'
import type { Database } from './tables.ts'
import { emptySum, unpack } from './usage-parts.ts'
import type { RowPage } from './usage-records.ts'
import { type RequestRow, type SeriesRow, SUM_COLUMNS } from './usage-tables.ts'

type Joined = RequestRow & { readonly [C in keyof SeriesRow as `s_${C}`]: SeriesRow[C] }

const SERIES = [
  'key_id',
  'key_name',
  'group_name',
  'model',
  'channel',
  'format',
  'upstream_format',
  'door',
  'status',
] as const

/** The latest rows that are looked through one by one; where few of them are meant, sums tell which hours have older ones. */
const LATEST = 5000

const rowsWithSeries = (database: Database) =>
  database
    .selectFrom('usage_rows as request')
    .innerJoin('usage_series as series', 'series.id', 'request.series')
    .selectAll('request')
    .select(SERIES.map(column => `series.${column} as s_${column}` as const))

/** Milliseconds between the times of an id and of its row: a clock may have been set meanwhile. */
const NEAR = [1000, 60_000]

/** One row by its id, which tells when it was. */
export async function rowOf(database: Database, id: string): Promise<UsageRow | undefined> {
  const at = timeOfId(id)
  if (at === undefined) return undefined
  for (const near of NEAR) {
    const row = await rowsWithSeries(database)
      .where('request.at', '>=', at - near)
      .where('request.at', '<=', at + near)
      .where('request.id', '=', id)
      .limit(1)
      .executeTakeFirst()
    if (row !== undefined) return usageOf(row as Joined)
  }
  return undefined
}

/** A page of rows, the latest first. */
export async function rowsOf(
  database: Database,
  page: RowPage,
  now: number,
): Promise<{ readonly rows: readonly UsageRow[]; readonly next?: string }> {
  const found = await idsOf(database, page, now)
  if (found.length === 0) return { rows: [] }
  const shown = found.slice(0, page.limit)
  const last = shown.at(-1)!
  const rows = await rowsWithSeries(database)
    .where('request.at', 'in', [...new Set(shown.map(({ at }) => Number(at)))])
    .where(
      'request.id',
      'in',
      shown.map(({ id }) => id),
    )
    .orderBy('request.at', 'desc')
    .orderBy('request.id', 'desc')
    .execute()
  return {
    rows: rows.map(row => usageOf(row as Joined)),
    ...(found.length > page.limit ? { next: `${last.at}.${last.id}` } : {}),
  }
}

type Place = Pick<RequestRow, 'at' | 'id'>

/** Where the rows of a page are, and of one more. */
async function idsOf(database: Database, page: RowPage, now: number): Promise<readonly Place[]> {
  const wanted = page.limit + 1
  if (!isBySeries(page)) return withLosses(within(database, page), page).limit(wanted).execute()
  const series = (await seriesOf(database, page).execute()).map(({ id }) => Number(id))
  if (series.length === 0) return []
  const latest = await within(database, page).limit(1).offset(LATEST).execute()
  const from = latest[0] === undefined ? page.since : Number(latest[0].at) + 1
  const found = [
    ...(await meant(database, { ...page, since: from }, series)
      .limit(wanted)
      .execute()),
  ]
  if (found.length >= wanted || from === page.since) return found
  const older = { ...page, until: Math.min(page.until, from) }
  for await (const times of timesOf(database, older, series, now)) {
    const more = await Promise.all(
      times.map(({ since, until }) =>
        meant(database, { ...older, since: Math.max(since, older.since), until: Math.min(until, older.until) }, series)
          .limit(wanted)
          .execute(),
      ),
    )
    for (const place of more.flat()) found.push(place)
    if (found.length >= wanted) break
  }
  return found.slice(0, wanted)
}

/** Whether only the rows of some series are meant. */
const isBySeries = ({ where, only }: RowPage): boolean =>
  only === 'errors' || Object.values(where ?? {}).some(value => value !== undefined)

/** Times that are read at once. */
const TIMES = 4

/** The hours (or days) that have rows of a page's series, the latest first, as many as make a page: their sums tell. */
async function* timesOf(
  database: Database,
  page: RowPage,
  series: readonly number[],
  now: number,
): AsyncGenerator<readonly Times[]> {
  const place = placeOf(page.after)
  const until = Math.min(page.until, place === undefined ? Number.POSITIVE_INFINITY : place.at + 1)
  const column = page.only === 'losses' ? LOSSES : 0
  const sum = emptySum()
  const sums = new Map(series.map(id => [id, sum]))
  let times: Times[] = []
  let count = 0
  for (const span of hoursOf({ since: page.since, until }, now))
    for await (const { at, data } of partsOf(database, span, 'desc')) {
      const last = times.at(-1)
      const isNew = last?.since !== at
      if (isNew && (count > page.limit || times.length === TIMES)) {
        yield times
        times = []
        count = 0
      }
      sum.fill(0)
      unpack(data, id => sums.get(id), false)
      if (sum[column] === 0) continue
      count += page.only === 'losses' ? 1 : sum[0]!
      if (isNew) times.push({ since: at, until: at + UNITS[span.table] })
    }
  if (times.length > 0) yield times
}

interface Times {
  readonly since: number
  readonly until: number
}

const LOSSES = SUM_COLUMNS.indexOf('losses')

function within(database: Database, { since, until, after }: RowPage) {
  const place = placeOf(after)
  let query = database.selectFrom('usage_rows').select(['at', 'id']).where('at', '>=', since).where('at', '<', until)
  if (place !== undefined)
    query = query.where('at', '<=', place.at).where(row => row.or([row('at', '<', place.at), row('id', '<', place.id)]))
  return query.orderBy('at', 'desc').orderBy('id', 'desc')
}

const withLosses = (query: ReturnType<typeof within>, { only }: RowPage) =>
  only === 'losses' ? query.where('losses', '>', 0) : query

/** Series that a statement names; where there are more, it looks for them itself. */
const NAMED = 200

const meant = (database: Database, page: RowPage, series: readonly number[]) =>
  withLosses(within(database, page), page).where(
    'series',
    'in',
    series.length > NAMED ? seriesOf(database, page) : series,
  )

/** The series of a page's rows. */
function seriesOf(database: Database, { where = {}, only }: RowPage) {
  const chosen = database.selectFrom('usage_series').select('usage_series.id').where(matches(where))
  return only === 'errors' ? chosen.where('failed', '=', 1) : chosen
}

/** The place behind which a page continues; a mark that no page gave is the beginning. */
function placeOf(after: string | undefined): Place | undefined {
  const match = /^(\d{1,15})\.(.+)$/.exec(after ?? '')
  return match === null ? undefined : { at: Number(match[1]), id: match[2]! }
}

const number = (value: number | string | null): number | undefined => (value === null ? undefined : Number(value))

function usageOf(row: Joined): UsageRow {
  const model = row.s_model ?? row.model ?? undefined
  const channel = row.s_channel ?? undefined
  return {
    ...{ id: row.id, at: Number(row.at), door: row.s_door, format: row.s_format as UsageRow['format'] },
    ...{
      stream: row.stream === 1,
      attempts: row.attempts,
      status: row.s_status,
      losses: row.losses,
      duration: row.duration,
    },
    ...defined({
      ...{ key: row.s_key_id ?? undefined, keyName: row.s_key_name ?? undefined, group: row.s_group_name ?? undefined },
      ...{ model, channel, upstreamModel: row.upstream_model ?? (channel === undefined ? undefined : model) },
      upstreamFormat: (row.s_upstream_format ?? undefined) as UsageRow['upstreamFormat'] | undefined,
      ...{ error: row.error ?? undefined, finish: row.finish ?? undefined, upstreamId: row.upstream_id ?? undefined },
      ...{ input: number(row.input), output: number(row.output), reasoning: number(row.reasoning) },
      ...{ cacheRead: number(row.cache_read), cacheWrite: number(row.cache_write), cost: number(row.cost) },
      ...{ inputAudio: number(row.input_audio), outputAudio: number(row.output_audio) },
      ...{ readAfter: number(row.read_after), sentAfter: number(row.sent_after) },
      ...{ answeredAfter: number(row.answered_after), firstByteAfter: number(row.first_byte_after) },
      tries: row.tries === null ? undefined : (JSON.parse(row.tries) as readonly UsageTry[]),
    }),
  }
}
