import { defined, isObject, parseJson, parseObject } from '../canonical/node.ts'
import type { Database } from './tables.ts'
import { timeOfId } from './usage/request-id.ts'
import type { EarlierAttempt, Failure, UsageRow } from './usage/row.ts'
import { kindsIn } from './usage-batch.ts'
import { positionsOf, type RowPosition } from './usage-positions.ts'
import type { RowPage } from './usage-records.ts'
import type { RequestRow, SeriesRow } from './usage-tables.ts'

type RowWithSeries = RequestRow & { readonly [C in keyof SeriesRow as `s_${C}`]: SeriesRow[C] }

/** Columns of `usage_series` that belong to a row. */
const SERIES_COLUMNS = [
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

const rowsWithSeries = (database: Database) =>
  database
    .selectFrom('usage_rows as request')
    .innerJoin('usage_series as series', 'series.id', 'request.series')
    .selectAll('request')
    .select(SERIES_COLUMNS.map(column => `series.${column} as s_${column}` as const))

/**
 * Maximum differences between the time in an id and the time of its row, in milliseconds. The larger one is tried
 * second, in case the clock was adjusted.
 */
const ID_TIME_TOLERANCES_MS = [1000, 60_000]

/** Returns a row by its id, which contains its approximate time. */
export async function rowOf(database: Database, id: string): Promise<UsageRow | undefined> {
  const at = timeOfId(id)
  if (at === undefined) return undefined
  for (const tolerance of ID_TIME_TOLERANCES_MS) {
    const row = await rowsWithSeries(database)
      .where('request.at', '>=', at - tolerance)
      .where('request.at', '<=', at + tolerance)
      .where('request.id', '=', id)
      // A background response has two rows of one id. The later one is that of its answer.
      .orderBy('request.at', 'desc')
      .orderBy('request.attempts', 'desc')
      .limit(1)
      .executeTakeFirst()
    if (row !== undefined) return usageOf(row as RowWithSeries)
  }
  return undefined
}

/** Returns the position of a row as text. */
const nameOf = ({ at, id }: RowPosition): string => `${at}.${id}`

/** Returns a page of rows, newest first. */
export async function rowsOf(
  database: Database,
  page: RowPage,
  now: number,
): Promise<{ readonly rows: readonly UsageRow[]; readonly next?: string }> {
  const positions = await positionsOf(database, page, now)
  if (positions.length === 0) return { rows: [] }
  const pageRows = positions.slice(0, page.limit)
  const last = pageRows.at(-1)!
  const onPage = new Set(pageRows.map(nameOf))
  const rows = await rowsWithSeries(database)
    .where('request.at', 'in', [...new Set(pageRows.map(({ at }) => Number(at)))])
    .where(
      'request.id',
      'in',
      pageRows.map(({ id }) => id),
    )
    .orderBy('request.at', 'desc')
    .orderBy('request.id', 'desc')
    .execute()
  return {
    // One of two rows with the same id may be on another page.
    rows: rows.flatMap(row => (onPage.has(nameOf(row)) ? [usageOf(row as RowWithSeries)] : [])),
    ...(positions.length > page.limit ? { next: nameOf(last) } : {}),
  }
}

/** Parses the details of a failure. Those of a damaged row are unknown, so that the rows beside it can be read. */
export function failureIn(text: string): Failure | undefined {
  const failure = parseObject(text)
  return typeof failure?.['reason'] === 'string' ? (failure as unknown as Failure) : undefined
}

/** Parses the earlier attempts of a row, as `failureIn` does. */
function triesIn(text: string): readonly EarlierAttempt[] | undefined {
  const tries = parseJson(text)
  return Array.isArray(tries) ? (tries.filter(isObject) as unknown as readonly EarlierAttempt[]) : undefined
}

const number = (value: number | string | null): number | undefined => (value === null ? undefined : Number(value))

function usageOf(row: RowWithSeries): UsageRow {
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
      estimated: row.estimated === 1 ? true : undefined,
      lossKinds: row.loss_kinds === null ? undefined : kindsIn(row.loss_kinds),
      failure: row.failure === null ? undefined : failureIn(row.failure),
      tries: row.tries === null ? undefined : triesIn(row.tries),
    }),
  }
}
