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
  /** Stores captures, then deletes the oldest until all captures together fit into `limit` bytes. */
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

/** The repository of captured requests. Evicts the oldest captures beyond a size limit. */
export class CaptureRepository implements Captures {
  private readonly database: Database
  private readonly now: () => number

  constructor(database: Database, now: () => number) {
    this.database = database
    this.now = now
  }

  async add(captures: readonly StoredCapture[], limit: number): Promise<void> {
    await this.database.transaction().execute(async transaction => {
      await lock(transaction, 'captures')
      for (const { id, at, key, expiresAt, data } of captures)
        await transaction
          .insertInto('captures')
          .values({ id, at, key_id: key ?? null, size: data.length, expires_at: expiresAt, data })
          .onConflict(conflict => conflict.column('id').doNothing())
          .execute()
      await evictOldest(transaction, limit)
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

/** Deletes the oldest captures until the rest fit into `limit` bytes. */
async function evictOldest(database: Database, limit: number): Promise<void> {
  const { total } = await database
    .selectFrom('captures')
    .select(({ fn }) => fn.sum<number | string | null>('size').as('total'))
    .executeTakeFirstOrThrow()
  let over = Number(total ?? 0) - limit
  while (over > 0) {
    const rows = await database
      .selectFrom('captures')
      .select(['id', 'size'])
      .orderBy('at')
      .orderBy('id')
      .limit(BATCH_SIZE)
      .execute()
    if (rows.length === 0) return
    const evictedIds: string[] = []
    for (const { id, size } of rows) {
      if (over <= 0) break
      over -= Number(size)
      evictedIds.push(id)
    }
    await database.deleteFrom('captures').where('id', 'in', evictedIds).execute()
  }
}
