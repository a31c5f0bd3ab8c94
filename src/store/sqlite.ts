import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { type Dialect, type SqliteDatabase, SqliteDialect, type SqliteStatement } from 'kysely'

/**
 * How a connection is set up: readers do not wait for writers, a crash of the machine may cost the last writes but never
 * the file, what is deleted is overwritten, and another process may hold the file for a moment.
 */
const SETUP = [
  'pragma busy_timeout = 2000',
  'pragma journal_mode = wal',
  'pragma synchronous = normal',
  'pragma secure_delete = on',
]

/** A SQLite file, made readable by its owner alone where it is new, for the query layer. */
export function sqlite(path: string): Dialect {
  if (path !== ':memory:') {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'a', 0o600))
    chmodSync(path, 0o600)
  }
  const database = new DatabaseSync(path)
  for (const line of SETUP) database.exec(line)
  return new SqliteDialect({ database: new Statements(database) })
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
    this.compiled.set(sql, statement)
    return statement
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
