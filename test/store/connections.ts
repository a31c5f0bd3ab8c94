import { join } from 'node:path'
import type { AccessRecords } from '../../src/store/access-records.ts'
import { openSqlite, openStore } from '../../src/store/store.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'
import { scratch } from '../gateway/stored/test-server.ts'

/** Several connections to one fresh database. */
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
  const stores = await Promise.all(
    Array.from({ length: many }, () => openStore({ engine: 'postgres', url: fresh.url })),
  )
  return {
    connections: stores.map(({ access }) => access),
    close: async () => {
      await Promise.all(stores.map(one => one.close()))
      await fresh.drop()
    },
  }
}

/** All engines, and why an engine is skipped on this machine. */
export const ENGINES = [
  { name: 'SQLite', open: sqliteConnections, skipped: undefined },
  { name: 'PostgreSQL', open: postgresConnections, skipped: noPostgres },
]
