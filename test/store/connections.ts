import { join } from 'node:path'
import { Kysely, PostgresDialect } from 'kysely'
import { Pool } from 'pg'
import type { AccessRecords } from '../../src/store/access-records.ts'
import { KeptAccess } from '../../src/store/kept-access.ts'
import { migrate } from '../../src/store/migrate.ts'
import { openSqlite } from '../../src/store/store.ts'
import type { Tables } from '../../src/store/tables.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'
import { scratch } from '../stored/test-server.ts'

/** Some connections to one fresh database. */
export interface Opened {
  readonly connections: readonly AccessRecords[]
  close(): Promise<void>
}

async function sqliteConnections(many: number): Promise<Opened> {
  const data = scratch()
  const path = join(data.path, 'x.sqlite')
  const stores = [await openSqlite(path)]
  while (stores.length < many) stores.push(await openSqlite(path))
  return {
    connections: stores.map(({ access }) => access),
    close: async () => {
      await Promise.all(stores.map(one => one.close()))
      data.drop()
    },
  }
}

async function postgresConnections(many: number): Promise<Opened> {
  const fresh = await freshDatabase()
  const databases = Array.from({ length: many }, () => {
    const pool = new Pool({ connectionString: fresh.url, max: 2 })
    pool.on('error', () => {})
    return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  })
  await migrate(databases[0]!, { bytes: 'bytea' })
  return {
    connections: databases.map(database => new KeptAccess(database, Date.now)),
    close: async () => {
      await Promise.all(databases.map(one => one.destroy()))
      await fresh.drop()
    },
  }
}

/** Every engine, and why it cannot be had here. */
export const ENGINES = [
  { name: 'SQLite', open: sqliteConnections, skipped: undefined },
  { name: 'PostgreSQL', open: postgresConnections, skipped: noPostgres },
]
