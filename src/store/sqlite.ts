import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely'
import type { Engine, Row } from './engine.ts'

/** Milliseconds another process may lock the file: this whole process waits as long. */
const BUSY_TIMEOUT = 2000

/**
 * The setup of a connection: readers do not wait for writers, a crash of the machine may cost the last writes but never
 * the file, deleted data is overwritten, and another process may lock the file for a moment.
 */
const SETUP = [
  `pragma busy_timeout = ${BUSY_TIMEOUT}`,
  'pragma journal_mode = wal',
  'pragma synchronous = normal',
  'pragma secure_delete = on',
]

const IN_MEMORY = ':memory:'

/** Text that is written to check for space; answers are larger than a page, too. */
const SAMPLE = 'x'.repeat(16 * 1024)

/** Opens a SQLite file, made readable by its owner alone where it is new, for the query layer. */
export function sqlite(path: string): Engine {
  if (path !== IN_MEMORY) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    create(path)
    chmodSync(path, 0o600)
  }
  const database = new DatabaseSync(path)
  try {
    for (const line of SETUP) database.exec(line)
  } catch (thrown) {
    database.close()
    throw thrown
  }
  const opened = identityOf(path)
  return {
    name: 'sqlite',
    dialect: new SqliteDialect({ database: new Statements(database) }),
    types: { bytes: 'blob' },
    ddl: statement => statement,
    exclusively: (layer, work) => exclusively(database, () => layer.transaction().execute(work)),
    moved: () => identityOf(path) !== opened,
    probe: async () => probe(database),
    rows: (_, table, size) => rowsOf(database, table, size),
  }
}

/**
 * Makes the file where there is none. One that is there is not even opened: the system takes all locks of a process from a
 * file when the process closes it anywhere (POSIX), and others would then delete what its connections have written
 * (sqlite.org, "How To Corrupt", 2.2).
 */
function create(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600))
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
    // A link to nothing.
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  }
}

/** Runs a transaction when no other is; a connection of this process, which a wait would hold up, may have it. */
async function exclusively<T>(database: DatabaseSync, transaction: () => Promise<T>): Promise<T> {
  database.exec('pragma busy_timeout = 0')
  try {
    for (let waited = 0; ; waited += PAUSE) {
      try {
        return await transaction()
      } catch (thrown) {
        if (!isBusy(thrown) || waited >= LONGEST) throw thrown
      }
      await sleep(PAUSE)
    }
  } finally {
    database.exec(`pragma busy_timeout = ${BUSY_TIMEOUT}`)
  }
}

/** Milliseconds between two tries to have a file alone, and of all of them. */
const PAUSE = 20
const LONGEST = 30_000

const isBusy = (thrown: unknown): boolean => (thrown as { errcode?: unknown }).errcode === BUSY

/** Whether another connection has the file open: only the first one is given it alone. */
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

/** SQLite's code for a file that another connection locks. */
const BUSY = 5

async function* rowsOf(database: DatabaseSync, table: string, size: number): AsyncIterable<readonly Row[]> {
  let batch: Row[] = []
  for (const row of database.prepare(`select * from "${table}"`).iterate()) {
    if (batch.push(row as Row) < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** The identity of the file at a path. */
function identityOf(path: string): string | undefined {
  if (path === IN_MEMORY) return path
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? undefined : `${stat.dev}/${stat.ino}`
}

function probe(database: DatabaseSync): void {
  // A write is running, whose failure will be reported.
  if (database.isTransaction) return
  database.exec('pragma busy_timeout = 0')
  try {
    database.exec(`insert into probes (sample) values ('${SAMPLE}')`)
    database.exec('delete from probes')
  } finally {
    database.exec(`pragma busy_timeout = ${BUSY_TIMEOUT}`)
  }
}

/** Caches compiled statements: there are few of them, and compiling one costs more than running it. */
class Statements implements SqliteDatabase {
  private readonly database: DatabaseSync
  private readonly compiled = new Map<string, SqliteStatement>()

  constructor(database: DatabaseSync) {
    this.database = database
  }

  prepare(sql: string): SqliteStatement {
    const known = this.compiled.get(sql)
    if (known !== undefined) return known
    const statement = adapted(this.database.prepare(sql === 'begin' ? BEGIN : sql))
    if (this.compiled.size >= MOST) this.compiled.clear()
    const prepared = sql === 'rollback' ? this.tolerant(statement) : statement
    this.compiled.set(sql, prepared)
    return prepared
  }

  /** SQLite ends a transaction itself where the disk is full: the failure of a second rollback would hide the cause. */
  private tolerant(statement: SqliteStatement): SqliteStatement {
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

const MOST = 200

/** Every transaction writes: one that began with reading could not wait for another's writes. */
const BEGIN = 'begin immediate'

type Values = readonly SQLInputValue[]

/** A statement whose only value is a list of lists of values is run for each of them: a query for each costs more than it. */
const adapted = (statement: StatementSync): SqliteStatement => ({
  reader: statement.columns().length > 0,
  all: values => statement.all(...(values as Values)),
  run: values => (isBulk(values) ? runAll(statement, values[0]) : statement.run(...(values as Values))),
  iterate: values => statement.iterate(...(values as Values)),
})

const isBulk = (values: readonly unknown[]): values is readonly [readonly Values[]] => Array.isArray(values[0])

function runAll(statement: StatementSync, rows: readonly Values[]) {
  let [changes, lastInsertRowid]: [number | bigint, number | bigint] = [0, 0]
  for (const row of rows) {
    const done = statement.run(...row)
    changes = Number(changes) + Number(done.changes)
    lastInsertRowid = done.lastInsertRowid
  }
  return { changes, lastInsertRowid }
}
