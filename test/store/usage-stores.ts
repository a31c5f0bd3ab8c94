import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqlite, openStore } from '../../src/store/store.ts'
import type { UsageRecords } from '../../src/store/usage-records.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'

/** A store of usage on one engine. */
export interface UsageStore {
  readonly usage: UsageRecords
  /** The same data over another connection, as another instance sees it. */
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
  const open = () => openStore({ engine: 'postgres', url }, now)
  const stores = [await open()]
  return {
    usage: stores[0]!.usage,
    async other() {
      stores.push(await open())
      return stores.at(-1)!.usage
    },
    async close() {
      await Promise.all(stores.map(store => store.close()))
      await drop()
    },
  }
}

/** All engines available on this machine. */
export const ENGINES: readonly (readonly [name: string, open: (now?: () => number) => Promise<UsageStore>])[] = [
  ['SQLite', (now = Date.now) => onSqlite(now)],
  ...(noPostgres === undefined ? ([['PostgreSQL', (now = Date.now) => onPostgres(now)]] as const) : []),
]
