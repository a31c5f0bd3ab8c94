import { randomBytes } from 'node:crypto'
import { setImmediate as breath } from 'node:timers/promises'
import type { Database } from './tables.ts'
import { HOUR } from './usage-batch.ts'
import { merged } from './usage-parts.ts'

/** Tables of parts of sums, and the milliseconds that a time in them has. */
export const UNITS = { usage_hours: HOUR, usage_days: 24 * HOUR } as const
export type PartTable = keyof typeof UNITS
const TABLES = Object.entries(UNITS) as readonly (readonly [PartTable, number])[]

/** Parts that a time that goes on may have; one that is over has one in the end. */
const MOST = 30
/** Parts that are made one at a time. */
const AT_ONCE = 1000
/** How long ago the times are that may have got parts since they were made one: requests are recorded when they end. */
const BACK = 3 * 24 * HOUR

/** Adds a part to the sums of a time. */
export async function addPart(database: Database, table: PartTable, at: number, data: Uint8Array): Promise<void> {
  const part = randomBytes(8).toString('hex')
  await database.insertInto(table).values({ at, part, data }).execute()
}

/**
 * Makes the parts of a time one, where there are many or the time is over. Sums stay what they are, whoever reads, adds
 * or does the same meanwhile.
 */
export async function mergeParts(database: Database, now: number): Promise<void> {
  for (const [table, unit] of TABLES) {
    const times = await database
      .selectFrom(table)
      .select(({ fn }) => ['at', fn.countAll<number>().as('parts')] as const)
      .where('at', '>=', now - BACK)
      .groupBy('at')
      .having(({ fn }) => fn.countAll(), '>', 1)
      .execute()
    for (const { at, parts } of times)
      if (Number(parts) > MOST || Number(at) + unit <= now) await mergeAt(database, table, Number(at))
  }
}

async function mergeAt(database: Database, table: PartTable, at: number): Promise<void> {
  const parts = await database.selectFrom(table).select(['part', 'data']).where('at', '=', at).limit(AT_ONCE).execute()
  if (parts.length < 2) return
  const data = merged(parts.map(one => one.data))
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

/** Another process made the same parts one. */
const MERGED_ELSEWHERE = new Error('the parts of a sum are merged already')

/** Times from which on, and before which, parts are meant. */
export interface Span {
  readonly table: PartTable
  readonly from: number
  readonly to: number
}

export interface Part {
  readonly at: number
  readonly data: Uint8Array
}

/** Milliseconds that are read at once, and after which other work has its turn. */
const WINDOW: { readonly [T in PartTable]: number } = { usage_hours: 48 * HOUR, usage_days: 16 * 24 * HOUR }
const TURN = 8

/** The parts of a span in the order of time, or the latest first; those of one time are of one moment. */
export async function* partsOf(
  database: Database,
  { table, from, to }: Span,
  order: 'asc' | 'desc' = 'asc',
): AsyncGenerator<Part> {
  const { first, last } = await database
    .selectFrom(table)
    .select(({ fn }) => [fn.min('at').as('first'), fn.max('at').as('last')] as const)
    .where('at', '>=', from)
    .where('at', '<', to)
    .executeTakeFirstOrThrow()
  if (first === null) return
  const [begin, end, size] = [Number(first), Number(last) + 1, WINDOW[table]]
  let turn = performance.now()
  for (let done = 0; begin + done < end; done += size) {
    const at = order === 'asc' ? begin + done : Math.max(begin, end - done - size)
    const parts = await database
      .selectFrom(table)
      .select(['at', 'data'])
      .where('at', '>=', at)
      .where('at', '<', order === 'asc' ? Math.min(at + size, end) : end - done)
      .orderBy('at', order)
      .execute()
    for (const part of parts) {
      if (performance.now() - turn > TURN) {
        await breath()
        turn = performance.now()
      }
      yield { at: Number(part.at), data: part.data }
    }
  }
}
