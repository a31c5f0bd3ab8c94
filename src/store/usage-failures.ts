import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Database } from './tables.ts'
import type { Failure } from './usage/row.ts'
import { matches } from './usage-groups.ts'
import type { FailureGroup, FailureGroups, UsageFilter } from './usage-records.ts'
import { failureIn } from './usage-rows.ts'
import { plainText } from './usage-series.ts'

/** Number of rows per query. The event loop runs between queries. */
const ROWS_PER_QUERY = 1000
/** Maximum number of failures that one request reads. */
const MAX_FAILURES = 20_000

/** Maximum number of groups. */
const MAX_GROUPS = 200

/**
 * Groups the failed requests of a period by channel, model and failure, latest first. Messages that differ only in
 * numbers and ids count as equal. Counts at most the latest `MAX_FAILURES` failures.
 */
export async function failuresOf(database: Database, filter: UsageFilter): Promise<FailureGroups> {
  const groups = new Map<string, FailureGroup>()
  let count = 0
  for (let after: Position | undefined; ; ) {
    const rows = await chunk(database, filter, after)
    for (const row of rows) add(groups, row)
    count += rows.length
    if (rows.length < ROWS_PER_QUERY || count >= MAX_FAILURES) break
    const last = rows.at(-1)!
    after = { at: Number(last.at), id: last.id }
    await yieldToEventLoop()
  }
  const all = [...groups.values()]
  return { groups: all.slice(0, MAX_GROUPS), isComplete: count < MAX_FAILURES && all.length <= MAX_GROUPS }
}

interface Position {
  readonly at: number
  readonly id: string
}

type Row = Awaited<ReturnType<typeof chunk>>[number]

/** Reads failed rows, latest first. */
function chunk(database: Database, { since, until, where: all = {} }: UsageFilter, after: Position | undefined) {
  // A series has no model if no channel was tried. The row then names it.
  const { model = '', ...others } = all
  const where = model === '' ? all : others
  let query = database
    .selectFrom('usage_rows')
    .innerJoin('usage_series', 'usage_series.id', 'usage_rows.series')
    .select(['usage_rows.at', 'usage_rows.id', 'usage_rows.model as named', 'usage_rows.error', 'usage_rows.failure'])
    .select(['usage_series.channel', 'usage_series.model'])
    .where('usage_rows.failure', 'is not', null)
    .where('usage_rows.at', '>=', since)
    .where('usage_rows.at', after === undefined ? '<' : '<=', after?.at ?? until)
  if (after !== undefined)
    query = query.where(row => row.or([row('usage_rows.at', '<', after.at), row('usage_rows.id', '<', after.id)]))
  const fields = Object.values(where).some(value => value !== undefined)
  if (fields)
    query = query.where('usage_series.id', 'in', database.selectFrom('usage_series').select('id').where(matches(where)))
  if (model !== '')
    query = query.where(row =>
      row.or([row('usage_rows.model', '=', plainText(model)), row('usage_series.model', '=', plainText(model))]),
    )
  return query.orderBy('usage_rows.at', 'desc').orderBy('usage_rows.id', 'desc').limit(ROWS_PER_QUERY).execute()
}

/** The failure of a damaged row. */
const UNKNOWN_FAILURE: Failure = { reason: 'gateway', said: 'The stored details are damaged.' }

function add(groups: Map<string, FailureGroup>, row: Row): void {
  const failure = failureIn(row.failure!) ?? UNKNOWN_FAILURE
  const { channel } = row
  const key = JSON.stringify([
    channel,
    channel === null ? null : row.model,
    row.error,
    failure.reason,
    failure.status,
    messagePattern(failure),
  ])
  const group = groups.get(key)
  const at = Number(row.at)
  if (group !== undefined) {
    group.count++
    group.firstAt = at
    return
  }
  groups.set(key, {
    ...{ failure, error: row.error ?? undefined, channel: channel ?? undefined },
    ...{ model: row.model ?? row.named ?? undefined },
    ...{ count: 1, firstAt: at, lastAt: at, request: row.id },
  })
}

/** Returns the message without numbers and ids, which differ between equal failures. */
const messagePattern = ({ said = '' }: Failure): string =>
  said.replace(/[\w-]+/g, word => (/\d/.test(word) ? '#' : word))
