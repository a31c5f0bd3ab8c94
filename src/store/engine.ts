import type { Dialect, Kysely, Transaction } from 'kysely'
import type { StoreConfig } from '../config/types.ts'
import type { ColumnTypes } from './migrations/migration.ts'

export type Row = { readonly [column: string]: unknown }

/** What one database system does differently from the others; the query layer hides the rest. */
export interface Engine {
  readonly name: StoreConfig['engine']
  readonly dialect: Dialect
  readonly types: ColumnTypes
  /** A statement of a migration as this engine takes it. */
  ddl(statement: string): string
  /** Runs work in a transaction that one process at a time has, for changes of the structure. */
  exclusively<Tables, T>(database: Kysely<Tables>, work: (one: Transaction<Tables>) => Promise<T>): Promise<T>
  /** Whether another file, or none, is at the path now: what is written here would be lost. */
  moved(): boolean
  /** Writes something and deletes it, without waiting for others. Rejects with the engine's error where that fails. */
  probe<Tables>(database: Kysely<Tables>): Promise<void>
  /** All rows of a table, in batches; inside of a transaction. */
  rows<Tables>(one: Transaction<Tables>, table: string, size: number): AsyncIterable<readonly Row[]>
}
