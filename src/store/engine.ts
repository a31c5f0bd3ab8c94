import type { Dialect, Kysely, Transaction } from 'kysely'
import type { StoreConfig } from '../config/types.ts'
import type { ColumnTypes } from './migrations.ts'

/** One row of any table, by column. */
export type Row = { readonly [column: string]: unknown }

/** The differences between the supported databases that the query builder does not hide. */
export interface Engine {
  readonly name: StoreConfig['engine']
  readonly dialect: Dialect
  readonly types: ColumnTypes
  /** Adapts a migration statement to this engine. */
  ddl(statement: string): string
  /** Runs work in a transaction that holds the schema lock, so that only one process at a time changes the schema. */
  exclusively<Tables, T>(database: Kysely<Tables>, work: (one: Transaction<Tables>) => Promise<T>): Promise<T>
  /**
   * Returns true if the database file at the path was removed or replaced, so that writes to the open file would be
   * lost. Then deletes the log of the open file, which would be applied to the file in its place.
   */
  moved(): boolean
  /** Checks that an empty database can store all texts. Rejects with `WrongEncoding`. */
  checkEncoding<Tables>(database: Kysely<Tables>): Promise<void>
  /** Writes and deletes a sample row, and waits shortly for locks. Rejects with the engine's error. */
  probe<Tables>(database: Kysely<Tables>): Promise<void>
  /** Returns the time of the database server in Unix milliseconds, or undefined for a file of this machine. */
  serverTime<Tables>(database: Kysely<Tables>): Promise<number | undefined>
  /** Reads all rows of a table in batches, within a transaction. */
  rows<Tables>(one: Transaction<Tables>, table: string, size: number): AsyncIterable<readonly Row[]>
}
