import { type Kysely, sql } from 'kysely'
import { MIGRATIONS } from './migrations/index.ts'

/** Matches a `create table` statement and its table name. */
const CREATED = /^\s*create table (?:if not exists )?(\w+)/i

/** Names of all tables that the migrations create. */
export const TABLES: readonly string[] = MIGRATIONS.flatMap(({ statements }) => statements({ bytes: 'blob' })).flatMap(
  statement => CREATED.exec(statement)?.[1] ?? [],
)

/** A statement that touches every table and returns no row. */
const LOOK = TABLES.map(table => `select 1 from ${table} where 1 = 0`).join(' union all ')

/** Checks that every table can be read. Rejects with the database's error. */
export async function checkTables<Tables>(database: Kysely<Tables>): Promise<void> {
  await sql.raw(LOOK).execute(database)
}
