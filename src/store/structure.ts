import { type Kysely, sql } from 'kysely'
import { MIGRATIONS } from './migrations/index.ts'

const CREATED = /^\s*create table (?:if not exists )?(\w+)/i

/** The tables that all migrations make. */
export const TABLES: readonly string[] = MIGRATIONS.flatMap(({ statements }) => statements({ bytes: 'blob' })).flatMap(
  statement => CREATED.exec(statement)?.[1] ?? [],
)

const LOOK = TABLES.map(table => `select 1 from ${table} where 1 = 0`).join(' union all ')

/** Rejects with the database's error where a table cannot be read; reads no row. */
export async function checkTables<Tables>(database: Kysely<Tables>): Promise<void> {
  await sql.raw(LOOK).execute(database)
}
