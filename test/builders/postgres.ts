import { execFileSync, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { freePort } from '../../src/kit/conformance/free-port.ts'

/** A separate database on the test server. */
export interface TestDatabase {
  /** `postgres://…`, with a user and a password. */
  readonly url: string
  /** Deletes the database, even if somebody is connected. */
  drop(): Promise<void>
}

/** A PostgreSQL server on a free port of the loopback, in a temporary folder. */
export interface TestPostgres {
  database(name?: string): Promise<TestDatabase>
  /** Returns the address of a database, whether it exists or not. */
  address(name: string): string
  /** Runs a statement as administrator. */
  run(statement: string): Promise<void>
  /** Ends the server immediately, as a crash does. */
  crash(): Promise<void>
  /** Starts the server again on the same port, with its data. */
  start(): Promise<void>
  /** Ends the server and deletes its folder. */
  close(): Promise<void>
}

/** Folder of PostgreSQL's programs: `POSTGRES_BIN`, Debian's newest, or that of the path. `none` leaves them out. */
export const BIN =
  process.env['POSTGRES_BIN'] === 'none'
    ? undefined
    : [
        process.env['POSTGRES_BIN'] ?? '',
        ...globSync('/usr/lib/postgresql/*/bin').sort((a, b) => Number(versionIn(b)) - Number(versionIn(a))),
        ...(process.env['PATH'] ?? '').split(delimiter),
      ].find(folder => folder !== '' && ['initdb', 'postgres', 'psql'].every(name => existsSync(join(folder, name))))

function versionIn(path: string): string {
  return dirname(path).split('/').at(-1)!
}

/** User as whom the server runs. It refuses to run as root. */
const OWNER: Partial<Ids> | undefined = process.getuid?.() === 0 ? (idsOf('postgres') ?? idsOf('nobody')) : {}

interface Ids {
  readonly uid: number
  readonly gid: number
}

function idsOf(name: string): Ids | undefined {
  try {
    const id = (flag: string) => Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }))
    return { uid: id('-u'), gid: id('-g') }
  } catch {
    return undefined
  }
}

/** Reason why PostgreSQL is not available for tests. Undefined if it is: `test.skipIf(noPostgres)`. */
export const noPostgres: string | undefined =
  BIN === undefined
    ? 'no initdb, postgres and psql found (apt-get install postgresql, or POSTGRES_BIN)'
    : OWNER === undefined
      ? 'root may not run it, and there is no user postgres or nobody'
      : undefined

/** Globals outlast test files in a worker, even if modules are loaded again. */
const shared = globalThis as { testPostgres?: Promise<TestPostgres>; testPostgresMissed?: true }

if (noPostgres !== undefined && shared.testPostgresMissed === undefined) {
  shared.testPostgresMissed = true
  console.warn(`Tests over PostgreSQL are SKIPPED: ${noPostgres}`)
}

/** The server that all tests of this worker share. It ends with the worker, however the worker ends. */
export const postgres = (): Promise<TestPostgres> => (shared.testPostgres ??= startPostgres())

/** Creates a new database on the shared server. */
export const freshDatabase = async (): Promise<TestDatabase> => (await postgres()).database()

/** Starts a server for one test, which may crash it. */
export async function startPostgres(): Promise<TestPostgres> {
  if (noPostgres !== undefined) throw new Error(noPostgres)
  const folder = mkdtempSync(join(tmpdir(), 'interlingua-postgres-'))
  const data = join(folder, 'data')
  if (OWNER!.uid !== undefined) chownSync(folder, OWNER!.uid, OWNER!.gid!)
  execFileSync(join(BIN!, 'initdb'), ['-D', data, ...INIT], { ...OWNER, cwd: folder, stdio: 'pipe' })
  const port = await freePort()
  let running = await run(folder, data, port)
  const address = (name: string) => `postgres://postgres:secret-of-the-tests@127.0.0.1:${port}/${name}`
  const administer = async (statement: string): Promise<void> => {
    const client = new Client({ connectionString: address('postgres') })
    await client.connect()
    await client.query(statement).finally(() => client.end())
  }
  return {
    address,
    run: administer,
    async database(name = `t${randomBytes(8).toString('hex')}`) {
      await administer(`create database "${name}" template template0`)
      return { url: address(name), drop: () => administer(`drop database if exists "${name}" with (force)`) }
    },
    crash: () => running.end('-QUIT'),
    async start() {
      running = await run(folder, data, port)
    },
    async close() {
      await running.end('')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Returns the database name for a data folder. Gateways that share the folder share the database. */
export const databaseFor = (folder: string): string =>
  `d${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`

/** Options of `initdb`. Text is sorted by a language, not by bytes, as on most servers. Nothing may depend on it. */
const INIT = [
  ...['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--no-instructions'],
  ...['--no-locale', '--locale-provider=icu', '--icu-locale=en-US'],
]

/** Settings of a server whose data nobody needs after a crash of the machine. */
const SETTINGS = [
  ...['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200', 'shared_buffers=32MB'],
  ...[
    'fsync=off',
    'full_page_writes=off',
    'autovacuum=off',
    'wal_level=minimal',
    'log_min_messages=fatal',
    'max_wal_senders=0',
  ],
]

/** A program that ends the server when its input ends, however the process that started it ended. */
const KEEPER = [
  '"$@" & server=$!',
  'read how || how=-INT; kill $how $server; wait $server',
  'case $how in *QUIT) ;; *) rm -rf "$0";; esac',
].join('\n')

async function run(folder: string, data: string, port: number) {
  const server = [join(BIN!, 'postgres'), '-D', data, '-p', `${port}`, ...SETTINGS.flatMap(one => ['-c', one])]
  const keeper = spawn('/bin/sh', ['-c', KEEPER, folder, ...server], {
    ...{ ...OWNER, cwd: folder, detached: true },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  keeper.unref()
  ;(keeper.stdin as unknown as { unref(): void }).unref()
  await answering(port)
  return {
    /** @param signal how the server ends. Without a signal, the program also deletes the folder. */
    async end(signal: string): Promise<void> {
      if (keeper.exitCode !== null) return
      const ended = once(keeper, 'exit')
      keeper.ref()
      keeper.stdin.end(signal === '' ? '' : `${signal}\n`)
      await ended
    },
  }
}

async function answering(port: number): Promise<void> {
  for (let waited = 0; ; waited += 50) {
    const client = new Client({ connectionString: `postgres://postgres@127.0.0.1:${port}/postgres` })
    client.on('error', () => {})
    try {
      await client.connect()
      return await client.end()
    } catch (thrown) {
      if (waited > 60_000) throw thrown
      await sleep(50)
    }
  }
}
