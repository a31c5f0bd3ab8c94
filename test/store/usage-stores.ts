import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, PostgresDialect } from 'kysely'
import { Pool } from 'pg'
import { KeptUsage } from '../../src/store/kept-usage.ts'
import { migrate } from '../../src/store/migrate.ts'
import { openSqlite } from '../../src/store/store.ts'
import type { Tables } from '../../src/store/tables.ts'
import type { UsageRecords } from '../../src/store/usage-records.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'

/** A store of usage on one engine. */
export interface UsageStore {
  readonly usage: UsageRecords
  /** The same data over another connection, as another instance has it. */
  other(): Promise<UsageRecords>
  close(): Promise<void>
}

async function onSqlite(now: () => number): Promise<UsageStore> {
  const folder = mkdtempSync(join(tmpdir(), 'interlingua-usage-'))
  const open = () => openSqlite(join(folder, 'x.sqlite'), now)
  const stores = [await open()]
  return {
    usage: stores[0]!.usage,
    async other() {
      stores.push(await open())
      return stores.at(-1)!.usage
    },
    async close() {
      await Promise.all(stores.map(store => store.close()))
      rmSync(folder, { recursive: true })
    },
  }
}

async function onPostgres(now: () => number): Promise<UsageStore> {
  const { url, drop } = await freshDatabase()
  const open = () => {
    // The server closes connections when the database is deleted.
    const pool = new Pool({ connectionString: url }).on('error', () => {})
    return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  }
  const databases = [open()]
  await migrate(databases[0]!, { bytes: 'bytea' })
  return {
    usage: new KeptUsage(databases[0]!, now),
    async other() {
      databases.push(open())
      return new KeptUsage(databases.at(-1)!, now)
    },
    async close() {
      await Promise.all(databases.map(database => database.destroy()))
      await drop()
    },
  }
}

/** Each engine that there is. */
export const ENGINES: readonly (readonly [name: string, open: (now?: () => number) => Promise<UsageStore>])[] = [
  ['SQLite', (now = Date.now) => onSqlite(now)],
  ...(noPostgres === undefined ? ([['PostgreSQL', (now = Date.now) => onPostgres(now)]] as const) : []),
]
