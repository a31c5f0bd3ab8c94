import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { deleteExpired } from './expired-rows.ts'
import { lock } from './locks.ts'
import type { Database } from './tables.ts'

/** One captured request as stored. Times are Unix milliseconds. */
export interface StoredCapture {
  /** Request id. */
  readonly id: string
  /** Start of the request. */
  readonly at: number
  /** Id of the caller's key. */
  readonly key?: string
  readonly expiresAt: number
  /** JSON, compressed by the writer. */
  readonly data: Uint8Array
}

/** Filter and position of one page of the list of captures. */
export interface CapturePage {
  /** Range for the start time of the requests, in Unix milliseconds. `since` is included, `until` is not. */
  readonly since: number
  readonly until: number
  readonly limit: number
  /** Id of the caller's key. */
  readonly key?: string
  /** Position of the last capture of the previous page: `TIME.ID`. */
  readonly after?: string
}

/** Captured requests of all instances. */
export interface Captures {
  /**
   * Stores captures, then deletes the oldest until all captures together fit into `limit` bytes. Of several processes,
   * each may exceed a large limit by a hundredth.
   */
  add(captures: readonly StoredCapture[], limit: number): Promise<void>
  /** Returns the data of a capture, or undefined if the capture is unknown or expired. */
  find(id: string): Promise<Uint8Array | undefined>
  /** Returns the ids of the requests that have a capture. */
  existing(ids: readonly string[]): Promise<ReadonlySet<string>>
  /** Returns a page of captures, newest first, and whether more follow. */
  list(
    page: CapturePage,
  ): Promise<{ readonly found: readonly Pick<StoredCapture, 'id' | 'at'>[]; readonly more: boolean }>
  /** Deletes a capture. Returns false if it is unknown. */
  drop(id: string): Promise<boolean>
  /** Deletes captures that expired before a time, in Unix milliseconds. By default the current time. */
  sweep(before?: number): Promise<void>
}

/** Captures examined per step of an eviction, and ids per statement. */
const BATCH_SIZE = 200
const MIB = 1024 * 1024
/** Size beyond which a step of an eviction deletes no further capture, in bytes. SQLite deletes while all else waits. */
const EVICTED_SIZE = 4 * MIB
/** Share of the limit, in whole MiB, that a process adds before it counts all captures again. */
const UNCOUNTED_SHARE = 1 / 100

/** Returns the size that a process adds between two counts, in bytes. */
const uncountedSize = (limit: number): number => Math.floor((limit * UNCOUNTED_SHARE) / MIB) * MIB

/** The repository of captured requests. Evicts the oldest captures beyond a size limit. */
export class CaptureRepository implements Captures {
  private readonly database: Database
  private readonly now: () => number
  /** Limit for which `room` holds, in bytes. */
  private limit: number | undefined
  /** Size that may be added before all captures are counted again, in bytes. A count reads an index entry per capture. */
  private room = 0

  constructor(database: Database, now: () => number) {
    this.database = database
    this.now = now
  }

  async add(captures: readonly StoredCapture[], limit: number): Promise<void> {
    const size = captures.reduce((sum, { data }) => sum + data.length, 0)
    const isCounted = limit !== this.limit || size > this.room
    let left = await this.locked(async transaction => {
      for (const { id, at, key, expiresAt, data } of captures)
        await transaction
          .insertInto('captures')
          .values({ id, at, key_id: key ?? null, size: data.length, expires_at: expiresAt, data })
          .onConflict(conflict => conflict.column('id').doNothing())
          .execute()
      return isCounted ? evictOldest(transaction, limit) : undefined
    })
    if (left === undefined) {
      this.room -= size
      return
    }
    const goal = limit - uncountedSize(limit)
    while (left.isOver) {
      await yieldToEventLoop()
      left = await this.locked(transaction => evictOldest(transaction, goal, goal))
    }
    this.limit = limit
    this.room = Math.min(limit - left.total, uncountedSize(limit))
  }

  private locked<T>(work: (transaction: Database) => Promise<T>): Promise<T> {
    return this.database.transaction().execute(async transaction => {
      await lock(transaction, 'captures')
      return work(transaction)
    })
  }

  async find(id: string): Promise<Uint8Array | undefined> {
    const row = await this.database
      .selectFrom('captures')
      .select('data')
      .where('id', '=', id)
      .where('expires_at', '>', this.now())
      .executeTakeFirst()
    return row?.data
  }

  async existing(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const found = new Set<string>()
    for (let from = 0; from < ids.length; from += BATCH_SIZE) {
      const rows = await this.database
        .selectFrom('captures')
        .select('id')
        .where('id', 'in', ids.slice(from, from + BATCH_SIZE))
        .where('expires_at', '>', this.now())
        .execute()
      for (const { id } of rows) found.add(id)
    }
    return found
  }

  async list({ since, until, limit, key, after }: CapturePage): ReturnType<Captures['list']> {
    const [at, id] = after?.split('.', 2) ?? []
    const found = await this.database
      .selectFrom('captures')
      .select(['at', 'id'])
      .where('at', '>=', since)
      // One upper bound only: of two, SQLite may seek to the one that is further away.
      .where('at', '<', at === undefined ? until : Math.min(until, Number(at) + 1))
      .where('expires_at', '>', this.now())
      .$if(key !== undefined, query => query.where('key_id', '=', key!))
      .$if(at !== undefined, query => query.where(({ eb, or }) => or([eb('at', '<', Number(at)), eb('id', '<', id!)])))
      .orderBy('at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit + 1)
      .execute()
    return {
      found: found.slice(0, limit).map(one => ({ id: one.id, at: Number(one.at) })),
      more: found.length > limit,
    }
  }

  async drop(id: string): Promise<boolean> {
    const { numDeletedRows } = await this.database.deleteFrom('captures').where('id', '=', id).executeTakeFirst()
    return numDeletedRows > 0n
  }

  async sweep(before = this.now()): Promise<void> {
    await deleteExpired(this.database, 'captures', before)
  }
}

/**
 * Deletes some of the oldest captures if all together exceed `limit` bytes, and then more than necessary, so that the
 * next count is not due at once. Returns the size of the rest, and whether another step has to follow.
 */
async function evictOldest(
  database: Database,
  limit: number,
  goal = limit - uncountedSize(limit),
): Promise<{ readonly total: number; readonly isOver: boolean }> {
  const { sum } = await database
    .selectFrom('captures')
    .select(({ fn }) => fn.sum<number | string | null>('size').as('sum'))
    .executeTakeFirstOrThrow()
  const total = Number(sum ?? 0)
  if (total <= limit) return { total, isOver: false }
  const rows = await database
    .selectFrom('captures')
    .select(['id', 'size'])
    .orderBy('at')
    .orderBy('id')
    .limit(BATCH_SIZE)
    .execute()
  const evictedIds: string[] = []
  let size = 0
  for (const row of rows) {
    if (size >= Math.min(total - goal, EVICTED_SIZE)) break
    size += Number(row.size)
    evictedIds.push(row.id)
  }
  if (evictedIds.length === 0) return { total, isOver: false }
  await database.deleteFrom('captures').where('id', 'in', evictedIds).execute()
  return { total: total - size, isOver: total - size > goal }
}
