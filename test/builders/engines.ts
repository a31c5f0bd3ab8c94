import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'
import type { StoreConfig } from '../../src/config/index.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import { BIN, databaseFor, noPostgres, postgres, type TestPostgres } from './postgres.ts'

/** Engine of all stores in a test run. `STORE=postgres npx vitest run …` runs the tests with PostgreSQL. */
export const ENGINE: StoreConfig['engine'] = process.env['STORE'] === 'postgres' ? 'postgres' : 'sqlite'

/** Whether stores are files: `describe.runIf(ON_FILES)` for tests of files only. */
export const ON_FILES = ENGINE === 'sqlite'

let server: TestPostgres | undefined
/** Folders that have a database. */
const folders = new Set<string>()

/** Starts the server if the run needs one. Called before each test file. */
export async function openEngines(): Promise<void> {
  if (ON_FILES) return
  if (noPostgres !== undefined) throw new Error(`STORE=postgres: ${noPostgres}`)
  server = await withTemplate()
}

/** Name of the template database with the newest schema. Copying it saves half of the time. */
const TEMPLATE = 'newest'

/** Globals outlast test files in a worker, even if modules are loaded again. */
const shared = globalThis as { testTemplate?: Promise<TestPostgres> }

const withTemplate = (): Promise<TestPostgres> => (shared.testTemplate ??= serverWithTemplate())

async function serverWithTemplate(): Promise<TestPostgres> {
  const started = await postgres()
  const { url } = await started.database(TEMPLATE)
  await (await openStore({ engine: 'postgres', url })).close()
  return started
}

/** Returns the store of a folder. Gateways that share the folder share the store. */
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

/** Drops the databases of deleted folders. Called after each test file. */
export async function dropUnused(): Promise<void> {
  for (const folder of folders) {
    if (existsSync(folder)) continue
    folders.delete(folder)
    await server!.run(`drop database if exists ${databaseFor(folder)} with (force)`)
  }
}

/** Opens the store of a folder on separate connections. */
export const openStoreAt = (folder: string, now?: () => number): Promise<Store> => openStore(storeAt(folder), now)

/**
 * Makes killed processes count as dead at once. With files, other processes notice this themselves. With a server, they
 * would notice only after 20 s of silence. Live processes report again within 5 s.
 */
export async function noticeDead(folder: string): Promise<void> {
  if (!ON_FILES) await inDatabase(folder, 'delete from processes')
}

/** Returns a store as written in a config file. */
export const written = (store: StoreConfig): string => (store.engine === 'sqlite' ? `sqlite:${store.path}` : store.url)

/** Runs a statement in the database of a folder on a separate connection, and returns the rows. */
export const inDatabase = (folder: string, statement: string): Promise<readonly object[]> =>
  inStore(storeAt(folder), statement)

/** Runs a statement in a store, and returns the rows. */
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
