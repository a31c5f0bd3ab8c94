import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { type Dialect, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely'

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

/** A SQLite file that is open. */
export interface SqliteFile {
  readonly dialect: Dialect
  /** Whether another file, or none, is at the path now: what is written here would be lost. */
  moved(): boolean
  /** Writes something and deletes it, without waiting for others. Throws SQLite's error where that fails. */
  probe(): void
}

/** Opens a SQLite file, made readable by its owner alone where it is new, for the query layer. */
export function sqlite(path: string): SqliteFile {
  if (path !== IN_MEMORY) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'a', 0o600))
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
    dialect: new SqliteDialect({ database: new Statements(database) }),
    moved: () => identityOf(path) !== opened,
    probe: () => probe(database),
  }
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
    const statement = adapted(this.database.prepare(sql))
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
