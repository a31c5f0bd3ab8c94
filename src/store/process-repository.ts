import { sql } from 'kysely'
import type { Database } from './tables.ts'

/** Heartbeats of the processes that share a database server. */
export interface Processes {
  /** Writes the heartbeat of a process. */
  beat(id: string): Promise<void>
  /** Returns true if the process wrote a heartbeat recently, and undefined if it has none because it ended. */
  isAlive(id: string): Promise<boolean | undefined>
  /** Deletes the heartbeat of a process that ends, and all heartbeats older than a day. */
  end(id: string): Promise<void>
}

/** Time since the last heartbeat after which a process counts as silent, in milliseconds. */
const SILENT_AFTER_MS = 12_000
/** Silence after which a process's row is deleted, in milliseconds. */
const DELETED_AFTER_MS = 24 * 3_600_000

/** Current time in Unix milliseconds, by the server's clock because the clocks of machines differ. */
const NOW = sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`

/** Start time of the server. No process could write a heartbeat while the server was down. */
const SERVER_START = sql<number>`cast(extract(epoch from pg_postmaster_start_time()) * 1000 as bigint)`

/** The repository of heartbeats in PostgreSQL. Processes that share a SQLite file use locked files instead. */
export class ProcessRepository implements Processes {
  private readonly database: Database

  constructor(database: Database) {
    this.database = database
  }

  async beat(id: string): Promise<void> {
    await this.database
      .insertInto('processes')
      .values({ id, beat_at: NOW })
      .onConflict(conflict => conflict.column('id').doUpdateSet({ beat_at: NOW }))
      .execute()
  }

  async isAlive(id: string): Promise<boolean | undefined> {
    const isRecent = sql<boolean>`greatest(beat_at, ${SERVER_START}) > ${NOW} - ${sql.lit(SILENT_AFTER_MS)}`
    const row = await this.database
      .selectFrom('processes')
      .select(isRecent.as('isRecent'))
      .where('id', '=', id)
      .executeTakeFirst()
    return row?.isRecent
  }

  async end(id: string): Promise<void> {
    await this.database
      .deleteFrom('processes')
      .where(({ or, eb }) => or([eb('id', '=', id), sql<boolean>`beat_at < ${NOW} - ${sql.lit(DELETED_AFTER_MS)}`]))
      .execute()
  }
}
