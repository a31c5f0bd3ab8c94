import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SqliteDatabase, SqliteStatement } from 'kysely'
import type { Engine, Row } from './engine.ts'
import { isBusy, SessionDialect } from './sqlite-sessions.ts'

/** Maximum time that the opening of a file waits for a lock of another process, in milliseconds. */
const OPEN_TIMEOUT = 2000

/** Size to which the write-ahead log shrinks after a long read of another program made it grow, in bytes. */
const MAX_IDLE_LOG = 16 * 1024 * 1024

/**
 * Connection setup: readers do not wait for writers, deleted data is overwritten, and a power failure can lose the last
 * writes (except those of `durably`) but never corrupt the file. Later statements do not wait for locks in SQLite, which
 * would stop the event loop.
 */
const SETUP = [
  `pragma busy_timeout = ${OPEN_TIMEOUT}`,
  'pragma journal_mode = wal',
  'pragma synchronous = normal',
  `pragma journal_size_limit = ${MAX_IDLE_LOG}`,
  'pragma secure_delete = on',
  'pragma busy_timeout = 0',
]

/** SQLite's path for an in-memory database. */
const IN_MEMORY = ':memory:'

/** Text that `probe` writes to test for disk space. It is larger than a page. */
const SAMPLE = 'x'.repeat(16 * 1024)

/** Opens a SQLite file. Creates a missing file that only its owner can read. */
export function sqlite(path: string): Engine {
  if (path !== IN_MEMORY) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    create(path)
    hide(path)
  }
  const database = new DatabaseSync(path)
  try {
    for (const line of SETUP) database.exec(line)
  } catch (thrown) {
    database.close()
    throw thrown
  }
  return {
    name: 'sqlite',
    dialect: new SessionDialect(database, new Statements(database)),
    types: { bytes: 'blob' },
    ddl: statement => statement,
    exclusively: (layer, work) => exclusively(() => layer.transaction().execute(work)),
    moved: movedFile(path),
    checkEncoding: async () => {},
    probe: () => probe(database),
    serverTime: async () => undefined,
    rows: (_, table, size) => rowsOf(database, table, size),
  }
}

/**
 * Creates the file if it is missing. Never opens an existing file, because closing any descriptor of a file releases
 * all POSIX locks of the process, and other processes could then delete the write-ahead log (sqlite.org, "How To
 * Corrupt", 2.2).
 */
function create(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600))
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
    // The path is a dangling symbolic link.
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  }
}

/** Codes of files whose rights cannot be changed: of another owner, or on a read-only file system. */
const UNCHANGEABLE: ReadonlySet<string> = new Set(['EPERM', 'EROFS'])

/** Lets only the owner read a file. Another owner decides who may, as on a volume whose files belong to a group. */
function hide(path: string): void {
  try {
    chmodSync(path, 0o600)
  } catch (thrown) {
    if (!UNCHANGEABLE.has((thrown as NodeJS.ErrnoException).code ?? '')) throw thrown
  }
}

/** Runs a transaction as soon as no other one is running, which may change the schema for longer than others wait. */
async function exclusively<T>(transaction: () => Promise<T>): Promise<T> {
  for (const began = performance.now(); ; ) {
    try {
      return await transaction()
    } catch (thrown) {
      if (!isBusy(thrown) || performance.now() - began >= MAX_EXCLUSIVE_WAIT_MS) throw thrown
    }
  }
}

/** Maximum time spent waiting for the lock, in milliseconds. */
const MAX_EXCLUSIVE_WAIT_MS = 30_000

/** Returns true if another connection has the file open, because only a sole connection can lock it exclusively. */
export function isSqliteInUse(path: string): boolean {
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    for (const line of ['pragma locking_mode = exclusive', 'begin exclusive', 'rollback']) database.exec(line)
    return false
  } catch (thrown) {
    if (isBusy(thrown)) return true
    throw thrown
  } finally {
    database.close()
  }
}

/** Reads a table row by row, in batches. */
async function* rowsOf(database: DatabaseSync, table: string, size: number): AsyncIterable<readonly Row[]> {
  let batch: Row[] = []
  for (const row of database.prepare(`select * from "${table}"`).iterate()) {
    if (batch.push(row as Row) < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** Endings of the files that accompany a database. */
const COMPANIONS = ['-wal', '-shm']

/**
 * Returns a function that tells whether the open file was removed or replaced. It then deletes the log of that file,
 * which SQLite would apply to the file in its place. The log stays if a symbolic link leads to another file from then on.
 */
function movedFile(path: string): () => boolean {
  const opened = identityOf(path)
  // SQLite keeps the companions beside the file, not beside a link to it.
  const file = path === IN_MEMORY ? path : realpathSync(path)
  const companions = new Map<string, string>()
  return () => {
    if (identityOf(path) !== opened) {
      if (identityOf(file) !== opened) for (const [companion, identity] of companions) remove(companion, identity)
      return true
    }
    // A new database has none before its first write.
    for (const ending of companions.size < COMPANIONS.length ? COMPANIONS : []) {
      const identity = identityOf(file + ending)
      if (identity !== undefined) companions.set(file + ending, identity)
    }
    return false
  }
}

/** Deletes a file if it is the expected one, and not that of another process which has the new database open already. */
function remove(path: string, identity: string): void {
  if (identityOf(path) !== identity) return
  const aside = `${path}.${randomBytes(8).toString('hex')}`
  try {
    renameSync(path, aside)
    if (identityOf(aside) === identity) rmSync(aside, { force: true })
    else renameSync(aside, path)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown
  }
}

/** Returns the device and inode of the file at a path, or undefined if there is no file. */
function identityOf(path: string): string | undefined {
  if (path === IN_MEMORY) return path
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? undefined : `${stat.dev}/${stat.ino}`
}

/** Maximum time that a sample row waits for the transactions of other processes, in milliseconds. */
const MAX_PROBE_MS = 500
/** Interval between attempts to write a sample row, in milliseconds. */
const POLL_INTERVAL_MS = 20

/** Writes and deletes a sample row. Other processes may be writing at this moment, which is no fault. */
async function probe(database: DatabaseSync): Promise<void> {
  for (let waited = 0; ; waited += POLL_INTERVAL_MS) {
    try {
      return writeSample(database)
    } catch (thrown) {
      if (!isBusy(thrown) || waited >= MAX_PROBE_MS) throw thrown
    }
    await sleep(POLL_INTERVAL_MS)
  }
}

function writeSample(database: DatabaseSync): void {
  // A transaction is running, and would report its own failure.
  if (database.isTransaction) return
  database.exec(`insert into probes (sample) values ('${SAMPLE}')`)
  database.exec('delete from probes')
}

/** Caches compiled statements, because compiling one costs more than running it. */
class Statements implements SqliteDatabase {
  private readonly database: DatabaseSync
  private readonly compiled = new Map<string, SqliteStatement>()

  constructor(database: DatabaseSync) {
    this.database = database
  }

  prepare(sql: string): SqliteStatement {
    const known = this.compiled.get(sql)
    if (known !== undefined) return known
    const statement = adapt(this.database.prepare(sql === 'begin' ? BEGIN_IMMEDIATE : sql))
    if (this.compiled.size >= MAX_STATEMENTS) this.compiled.clear()
    const prepared = sql === 'rollback' ? this.tolerantRollback(statement) : statement
    this.compiled.set(sql, prepared)
    return prepared
  }

  /**
   * Ignores the failure of a rollback if SQLite has already rolled back, as on a full disk, so that it does not hide
   * the first error.
   */
  private tolerantRollback(statement: SqliteStatement): SqliteStatement {
    return {
      ...statement,
      run: values => (this.database.isTransaction ? statement.run(values) : { changes: 0, lastInsertRowid: 0 }),
    }
  }

  close(): void {
    this.compiled.clear()
    this.database.close()
  }
}

/** Maximum number of compiled statements in the cache. */
const MAX_STATEMENTS = 200

/**
 * Statement that starts every transaction with the write lock, because a read lock cannot be upgraded while another
 * transaction writes.
 */
const BEGIN_IMMEDIATE = 'begin immediate'

type Values = readonly SQLInputValue[]

/**
 * Adapts a statement to Kysely. If its only parameter is a list of rows, the statement runs once per row, which avoids
 * one query per row.
 */
const adapt = (statement: StatementSync): SqliteStatement => ({
  reader: statement.columns().length > 0,
  all: values => statement.all(...(values as Values)),
  run: values => (isBulk(values) ? runAll(statement, values[0]) : statement.run(...(values as Values))),
  iterate: values => statement.iterate(...(values as Values)),
})

const isBulk = (values: readonly unknown[]): values is readonly [readonly Values[]] => Array.isArray(values[0])

function runAll(statement: StatementSync, rows: readonly Values[]) {
  let [changes, lastInsertRowid]: [number | bigint, number | bigint] = [0, 0]
  for (const row of rows) {
    const result = statement.run(...row)
    changes = Number(changes) + Number(result.changes)
    lastInsertRowid = result.lastInsertRowid
  }
  return { changes, lastInsertRowid }
}
