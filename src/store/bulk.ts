import { CompiledQuery, PostgresAdapter } from 'kysely'
import type { Database } from './tables.ts'

/** Parameter values of a statement, in order. */
export type Values = readonly (number | string | null)[]

/** Returns true if the connected database is PostgreSQL rather than SQLite. */
export const isPostgres = (database: Database): boolean => database.getExecutor().adapter instanceof PostgresAdapter

/**
 * Runs one SQLite statement per list of values. The statement is compiled once, which is faster than building one large
 * insert.
 */
export async function runEach(database: Database, statement: string, values: readonly Values[]): Promise<void> {
  if (values.length > 0) await changedByEach(database, statement, values)
}

/** Like `runEach` for at least one list of values. Returns the number of rows that were inserted or changed. */
export async function changedByEach(database: Database, statement: string, values: readonly Values[]): Promise<number> {
  const { numAffectedRows } = await database.executeQuery(CompiledQuery.raw(statement, [values]))
  return Number(numAffectedRows)
}

/** SQL text that inserts one row, with `?` placeholders. */
export const insertText = (table: string, columns: readonly string[]): string =>
  `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`

/** Compares by code units, because databases sort by different collations. */
export const compareText = (one: string, second: string): number => (one < second ? -1 : Number(one > second))
