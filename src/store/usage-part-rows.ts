import { randomBytes } from 'node:crypto'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Database } from './tables.ts'
import { HOUR } from './usage-batch.ts'
import { mergePacked } from './usage-parts.ts'

/** Length of the periods in each table of packed sums, in milliseconds. */
export const PERIOD_MS = { usage_hours: HOUR, usage_days: 24 * HOUR } as const
export type PartTable = keyof typeof PERIOD_MS
const TABLES = Object.entries(PERIOD_MS) as readonly (readonly [PartTable, number])[]

/**
 * Maximum number of parts in the current period before they are merged. Parts of a past period are always merged into
 * one.
 */
const MAX_PARTS = 30
/** Parts merged per transaction. */
const PARTS_PER_MERGE = 1000
/**
 * Age up to which periods are checked for new parts, in milliseconds. Parts for past periods arrive late, because
 * requests are recorded when they end.
 */
const MERGE_LOOKBACK_MS = 3 * 24 * HOUR

/** Adds a part to the sums of a period. */
export async function addPart(database: Database, table: PartTable, at: number, data: Uint8Array): Promise<void> {
  const part = randomBytes(8).toString('hex')
  await database.insertInto(table).values({ at, part, data }).execute()
}

/**
 * Merges the parts of each period that is over or has many parts. Safe to run while other processes read, add or merge.
 */
export async function mergeParts(database: Database, now: number): Promise<void> {
  for (const [table, length] of TABLES) {
    const periods = await database
      .selectFrom(table)
      .select(({ fn }) => ['at', fn.countAll<number>().as('parts')] as const)
      .where('at', '>=', now - MERGE_LOOKBACK_MS)
      .groupBy('at')
      .having(({ fn }) => fn.countAll(), '>', 1)
      .execute()
    for (const { at, parts } of periods)
      if (Number(parts) > MAX_PARTS || Number(at) + length <= now) await mergeAt(database, table, Number(at))
  }
}

/** Replaces the parts of one period by a single merged part. */
async function mergeAt(database: Database, table: PartTable, at: number): Promise<void> {
  const parts = await database
    .selectFrom(table)
    .select(['part', 'data'])
    .where('at', '=', at)
    .limit(PARTS_PER_MERGE)
    .execute()
  if (parts.length < 2) return
  const data = mergePacked(parts.map(one => one.data))
  const names = parts.map(({ part }) => part)
  const work = database.transaction().execute(async one => {
    const { numDeletedRows } = await one
      .deleteFrom(table)
      .where('at', '=', at)
      .where('part', 'in', names)
      .executeTakeFirst()
    if (Number(numDeletedRows) !== names.length) throw MERGED_ELSEWHERE
    await addPart(one, table, at, data)
  })
  await work.catch(thrown => {
    if (thrown !== MERGED_ELSEWHERE) throw thrown
  })
}

/** Thrown to roll back when another process merged the same parts first. */
const MERGED_ELSEWHERE = new Error('the parts of a sum are already merged')

/** A range of periods in Unix milliseconds. `from` is included, `to` is not. */
export interface Span {
  readonly table: PartTable
  readonly from: number
  readonly to: number
}

/** One packed part and the start of its period. */
export interface Part {
  readonly at: number
  readonly data: Uint8Array
}

/** Range of periods that one query reads, in milliseconds. */
const QUERY_RANGE_MS: { readonly [T in PartTable]: number } = { usage_hours: 48 * HOUR, usage_days: 16 * 24 * HOUR }
/** CPU time after which the event loop runs, in milliseconds. */
const SLICE_MS = 8

/**
 * Reads the parts of a range, oldest or newest first. All parts of one period come from the same query, so that a
 * concurrent merge cannot count them twice.
 */
export async function* partsOf(
  database: Database,
  { table, from, to }: Span,
  order: 'asc' | 'desc' = 'asc',
): AsyncGenerator<Part> {
  const size = QUERY_RANGE_MS[table]
  let rest = await filledPart(database, { table, from, to })
  let sliceStart = performance.now()
  while (rest.from < rest.to) {
    const [low, high] =
      order === 'asc'
        ? [rest.from, Math.min(rest.from + size, rest.to)]
        : [Math.max(rest.from, rest.to - size), rest.to]
    const parts = await database
      .selectFrom(table)
      .select(['at', 'data'])
      .where('at', '>=', low)
      .where('at', '<', high)
      .orderBy('at', order)
      .execute()
    for (const part of parts) {
      if (performance.now() - sliceStart > SLICE_MS) {
        await yieldToEventLoop()
        sliceStart = performance.now()
      }
      yield { at: Number(part.at), data: part.data }
    }
    rest = order === 'asc' ? { table, from: high, to: rest.to } : { table, from: rest.from, to: low }
    // A clock that was wrong by years leaves a gap of years.
    if (parts.length === 0) rest = await filledPart(database, rest)
  }
}

/** Returns the range between the first and the last part of a range. It is empty if there are none. */
async function filledPart(database: Database, { table, from, to }: Span): Promise<Span> {
  const { first, last } = await database
    .selectFrom(table)
    .select(({ fn }) => [fn.min('at').as('first'), fn.max('at').as('last')] as const)
    .where('at', '>=', from)
    .where('at', '<', to)
    .executeTakeFirstOrThrow()
  return first === null ? { table, from, to: from } : { table, from: Number(first), to: Number(last) + 1 }
}
