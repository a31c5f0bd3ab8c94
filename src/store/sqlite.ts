import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { type Dialect, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely'

/** Milliseconds another process may hold the file: all of this one waits, too. */
const PATIENCE = 2000

/**
 * How a connection is set up: readers do not wait for writers, a crash of the machine may cost the last writes but never
 * the file, what is deleted is overwritten, and another process may hold the file for a moment.
 */
const SETUP = [
  `pragma busy_timeout = ${PATIENCE}`,
  'pragma journal_mode = wal',
  'pragma synchronous = normal',
  'pragma secure_delete = on',
]

const IN_MEMORY = ':memory:'

/** Text that is written to see whether there is room; answers are larger than a page, too. */
const SAMPLE = 'x'.repeat(16 * 1024)

/** A SQLite file that is open. */
export interface SqliteFile {
  readonly dialect: Dialect
  /** Whether another file, or none, stands at the path now: what is written here would be found by nobody. */
  moved(): boolean
  /** Writes something and takes it back, without waiting for others. Throws what SQLite throws where that fails. */
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
  const opened = placeOf(path)
  return {
    dialect: new SqliteDialect({ database: new Statements(database) }),
    moved: () => placeOf(path) !== opened,
    probe: () => probe(database),
  }
}

/** Which file stands at a path. */
function placeOf(path: string): string | undefined {
  if (path === IN_MEMORY) return path
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? undefined : `${stat.dev}/${stat.ino}`
}

function probe(database: DatabaseSync): void {
  // Somebody is writing at this very moment, and will hear how it goes.
  if (database.isTransaction) return
  database.exec('pragma busy_timeout = 0')
  try {
    database.exec(`insert into probes (sample) values ('${SAMPLE}')`)
    database.exec('delete from probes')
  } finally {
    database.exec(`pragma busy_timeout = ${PATIENCE}`)
  }
}

/** Compiled statements are kept: there are few of them, and compiling one costs more than running it. */
class Statements implements SqliteDatabase {
  private readonly database: DatabaseSync
  private readonly compiled = new Map<string, SqliteStatement>()

  constructor(database: DatabaseSync) {
    this.database = database
  }

  prepare(sql: string): SqliteStatement {
    const known = this.compiled.get(sql)
    if (known !== undefined) return known
    const statement = asked(this.database.prepare(sql))
    if (this.compiled.size >= MOST) this.compiled.clear()
    const made = sql === 'rollback' ? this.tolerant(statement) : statement
    this.compiled.set(sql, made)
    return made
  }

  /** SQLite ends a transaction itself where the disk is full: to be told so would hide why it failed. */
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

const asked = (statement: StatementSync): SqliteStatement => ({
  reader: statement.columns().length > 0,
  all: values => statement.all(...(values as Values)),
  run: values => statement.run(...(values as Values)),
  iterate: values => statement.iterate(...(values as Values)),
})
