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

/** Whether other processes have a database open: it is not copied then. */
export async function isInUse(config: StoreConfig): Promise<boolean> {
  if (config.engine === 'sqlite') return (await import('./sqlite.ts')).isSqliteInUse(config.path)
  return (await import('./postgres.ts')).isPostgresInUse(config.url)
}

/** Opens the engine that a config names; its packages are loaded only then. */
export async function openEngine(config: StoreConfig): Promise<Engine> {
  if (config.engine === 'sqlite') return (await import('./sqlite.ts')).sqlite(config.path)
  return (await import('./postgres.ts')).postgres(config.url)
}
