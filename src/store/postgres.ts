import {
  type Driver,
  type Kysely,
  PostgresDialect,
  PostgresQueryCompiler,
  type RootOperationNode,
  sql,
  type Transaction,
} from 'kysely'
import { Client, type ClientConfig, type CustomTypesConfig, Pool, types } from 'pg'
import type { Engine, Row } from './engine.ts'
import { WrongEncoding } from './postgres-fault.ts'
import { IDLE_TIMEOUT_MS, MAX_CONNECTIONS, PostgresSessions } from './postgres-sessions.ts'

/** Timeout for getting a connection, including the wait for a free one, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000
/**
 * Client-side timeout of a query, in milliseconds. It is longer than the server's own timeouts, so it only matters when
 * the connection is cut.
 */
const QUERY_TIMEOUT_MS = 40_000

/** The `application_name` of every connection, by which `isPostgresInUse` finds other processes. */
const APPLICATION_NAME = 'interlingua'

/** Id of the advisory lock for migrations. */
const MIGRATION_LOCK = 4_747_001

/** Text that `probe` writes to test for disk space. */
const SAMPLE = 'x'.repeat(1024)

/** Opens a PostgreSQL database. Connects on the first statement. */
export function postgres(url: string): Engine {
  const pool = new Pool({ ...connectionOf(url), max: MAX_CONNECTIONS, idleTimeoutMillis: IDLE_TIMEOUT_MS })
  // An idle connection was lost. The next statement uses another one.
  pool.on('error', () => {})
  pool.on('connect', client => client.on('error', () => {}))
  return {
    name: 'postgres',
    dialect: new Dialect(new PostgresSessions(pool)),
    types: { bytes: 'bytea' },
    ddl: orderedByBytes,
    exclusively,
    moved: () => false,
    checkEncoding,
    probe,
    serverTime,
    rows: rowsOf,
  }
}

/** Returns true if another process of this program is connected to the database. */
export async function isPostgresInUse(url: string): Promise<boolean> {
  const client = new Client({ ...connectionOf(url), application_name: `${APPLICATION_NAME} store` })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query(
      'select 1 from pg_stat_activity where datname = current_database() and application_name = $1',
      [APPLICATION_NAME],
    )
    return rows.length > 0
  } finally {
    await client.end()
  }
}

/**
 * Returns the connection settings. `sslmode` in the address controls TLS. The address may contain a password and is
 * never logged.
 */
const connectionOf = (url: string): ClientConfig => ({
  ...{ connectionString: url, application_name: APPLICATION_NAME, connectionTimeoutMillis: CONNECT_TIMEOUT_MS },
  ...{ query_timeout: QUERY_TIMEOUT_MS, keepAlive: true, keepAliveInitialDelayMillis: 10_000 },
  types: {
    getTypeParser: (id: number, format?: 'text') => NUMBERS.get(id) ?? types.getTypeParser(id, format),
  } as CustomTypesConfig,
})

/**
 * Parsers that return 64-bit integers and numerics as numbers, as SQLite does. Times, bytes and money stay below 2^53.
 */
const NUMBERS: ReadonlyMap<number, typeof Number> = new Map([
  [types.builtins.INT8, Number],
  [types.builtins.NUMERIC, Number],
])

/** The PostgreSQL dialect, with the driver of the sessions and the query compiler below. */
class Dialect extends PostgresDialect {
  private readonly sessions: PostgresSessions

  constructor(sessions: PostgresSessions) {
    super({ pool: sessions })
    this.sessions = sessions
  }

  override createDriver(): Driver {
    return this.sessions.driver()
  }

  override createQueryCompiler(): PostgresQueryCompiler {
    return new Compiler()
  }
}

/** Replaces NUL characters in text, which PostgreSQL rejects, by U+FFFD. */
class Compiler extends PostgresQueryCompiler {
  override compileQuery(node: RootOperationNode, id: Parameters<PostgresQueryCompiler['compileQuery']>[1]) {
    const query = super.compileQuery(node, id)
    return query.parameters.some(holdsNul) ? { ...query, parameters: query.parameters.map(withoutNul) } : query
  }
}

const holdsNul = (value: unknown): boolean => typeof value === 'string' && value.includes('\0')
const withoutNul = (value: unknown): unknown => (typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value)

/** Sorts text columns by bytes, as SQLite does, whatever the collation of the database. */
const orderedByBytes = (statement: string): string =>
  /^\s*create table/i.test(statement) ? statement.replaceAll(/(\w+ text)\b/g, '$1 collate "C"') : statement

/** Runs work under the migration lock, and waits for the lock without a timeout. */
const exclusively = <Tables, T>(database: Kysely<Tables>, work: (one: Transaction<Tables>) => Promise<T>): Promise<T> =>
  database.transaction().execute(async one => {
    await sql`set local statement_timeout = 0`.execute(one)
    await sql`set local lock_timeout = 0`.execute(one)
    await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(one)
    return work(one)
  })

/** Encodings that store all texts. `SQL_ASCII` stores the bytes of the client. */
const ENCODINGS: ReadonlySet<string> = new Set(['UTF8', 'SQL_ASCII'])

async function checkEncoding<Tables>(database: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ readonly server_encoding: string }>`show server_encoding`.execute(database)
  const { server_encoding: encoding } = rows[0]!
  if (!ENCODINGS.has(encoding)) throw new WrongEncoding(encoding)
}

async function probe<Tables>(database: Kysely<Tables>): Promise<void> {
  await sql`insert into probes (sample) values (${SAMPLE})`.execute(database)
  await sql`delete from probes`.execute(database)
}

async function serverTime<Tables>(database: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{
    readonly at: number
  }>`select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as at`.execute(database)
  return rows[0]!.at
}

/** Reads a table through a server-side cursor. */
async function* rowsOf<Tables>(one: Transaction<Tables>, table: string, size: number): AsyncIterable<readonly Row[]> {
  await sql`declare copied no scroll cursor for select * from ${sql.table(table)}`.execute(one)
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(size)} from copied`.execute(one)
    if (rows.length === 0) break
    yield rows
  }
  await sql`close copied`.execute(one)
}
