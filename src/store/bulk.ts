import { CompiledQuery, PostgresAdapter } from 'kysely'
import type { Database } from './tables.ts'

/** Values of a statement's parameters, in their order. */
export type Values = readonly (number | string | null)[]

export const isPostgres = (database: Database): boolean => database.getExecutor().adapter instanceof PostgresAdapter

/**
 * Runs a statement of SQLite for each list of values: it is compiled once, which takes less than to build one statement
 * for all of them.
 */
export async function runEach(database: Database, statement: string, values: readonly Values[]): Promise<void> {
  if (values.length > 0) await database.executeQuery(CompiledQuery.raw(statement, [values]))
}

/** The text of an insert of one row. */
export const insertText = (table: string, columns: readonly string[]): string =>
  `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`
