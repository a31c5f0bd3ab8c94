import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import type { StoreConfig } from '../../src/config/index.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { BIN, databaseFor, noPostgres, postgres, type TestPostgres } from './postgres.ts'

/** The engine of all stores of a run of tests: `STORE=postgres npx vitest run …` runs them over PostgreSQL. */
export const ENGINE: StoreConfig['engine'] = process.env['STORE'] === 'postgres' ? 'postgres' : 'sqlite'

/** Tests of files alone, or of a server alone: `describe.runIf(ON_FILES)`. */
export const ON_FILES = ENGINE === 'sqlite'

let server: TestPostgres | undefined
/** Folders whose databases there are. */
const folders = new Set<string>()

/** Starts the server, where the run needs one; before each test file. */
export async function openEngines(): Promise<void> {
  if (ON_FILES) return
  if (noPostgres !== undefined) throw new Error(`STORE=postgres: ${noPostgres}`)
  server = await withTemplate()
}

/** The database in the newest structure that others are copies of: that is half of the work of making one. */
const TEMPLATE = 'newest'

/** Workers keep globals between test files, also where they load modules anew. */
const shared = globalThis as { testTemplate?: Promise<TestPostgres> }

const withTemplate = (): Promise<TestPostgres> => (shared.testTemplate ??= serverWithTemplate())

async function serverWithTemplate(): Promise<TestPostgres> {
  const started = await postgres()
  const { url } = await started.database(TEMPLATE)
  await (await openStore({ engine: 'postgres', url })).close()
  return started
}

/** The store that stands for a folder: gateways that share the folder share it. */
export function storeAt(folder: string): StoreConfig {
  if (server === undefined) return { engine: 'sqlite', path: join(folder, 'interlingua.sqlite') }
  const name = databaseFor(folder)
  if (!folders.has(folder)) {
    folders.add(folder)
    const create = `create database ${name} template ${TEMPLATE} strategy file_copy`
    execFileSync(join(BIN!, 'psql'), ['-q', '-c', create, server.address('postgres')], { stdio: 'pipe' })
  }
  return { engine: 'postgres', url: server.address(name) }
}

/** Drops the databases of folders that are gone; after each test file. */
export async function dropUnused(): Promise<void> {
  for (const folder of folders) {
    if (existsSync(folder)) continue
    folders.delete(folder)
    await server!.run(`drop database if exists ${databaseFor(folder)} with (force)`)
  }
}

/** Opens the store that stands for a folder, on connections of its own. */
export const openStoreAt = (folder: string, now?: () => number): Promise<Store> => openStore(storeAt(folder), now)

/**
 * Has processes that were killed count as dead, at once: others see that where they held files. Where a server is shared,
 * they would after 20 s of silence. Those that live say so again within 5 s.
 */
export async function noticeDead(folder: string): Promise<void> {
  if (!ON_FILES) await inDatabase(folder, 'delete from processes')
}

/** How a store is written in a config file. */
export const written = (store: StoreConfig): string => (store.engine === 'sqlite' ? `sqlite:${store.path}` : store.url)

/** Runs a statement in the database of a folder, beside whoever has it open, and gives its rows. */
export const inDatabase = (folder: string, statement: string): Promise<readonly object[]> =>
  inStore(storeAt(folder), statement)

/** The same in a store. */
export async function inStore(store: StoreConfig, statement: string): Promise<readonly object[]> {
  if (store.engine === 'sqlite') {
    const database = new DatabaseSync(store.path, { timeout: 2000 })
    const rows = database.prepare(statement).all()
    database.close()
    return rows.map(row => ({ ...row }))
  }
  const client = new Client({ connectionString: store.url })
  await client.connect()
  return (await client.query(statement).finally(() => client.end())).rows
}
