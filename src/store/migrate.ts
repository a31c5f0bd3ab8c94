import { type Kysely, sql } from 'kysely'
import { MIGRATIONS } from './migrations/index.ts'
import type { ColumnTypes, Migration } from './migrations/migration.ts'

/** Brings a database to the newest structure; several processes may do so at once. */
export async function migrate<Tables>(database: Kysely<Tables>, types: ColumnTypes): Promise<void> {
  for (const migration of MIGRATIONS) {
    for (const statement of migration.statements(types)) await sql.raw(statement).execute(database)
    for (const [table, columns] of Object.entries(migration.later ?? {}))
      for (const [column, type] of await lacking(database, table, columns))
        await sql.raw(`alter table ${table} add column ${column} ${type}`).execute(database)
  }
}

async function lacking<Tables>(
  database: Kysely<Tables>,
  table: string,
  columns: NonNullable<Migration['later']>[string],
): Promise<readonly [column: string, type: string][]> {
  const tables = await database.introspection.getTables()
  const known = new Set(tables.find(({ name }) => name === table)?.columns.map(({ name }) => name))
  return Object.entries(columns).filter(([column]) => !known.has(column))
}
