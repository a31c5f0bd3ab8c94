import {
  CompiledQuery,
  type Kysely,
  PostgresDialect,
  PostgresQueryCompiler,
  type RootOperationNode,
  sql,
  type Transaction,
} from 'kysely'
import { Client, type ClientConfig, type CustomTypesConfig, Pool, type PoolClient, types } from 'pg'
import type { Engine, Row } from './engine.ts'

/**
 * Connections of one process: statements take milliseconds, so that more would only wait at the server, which allows a
 * hundred to all instances by default.
 */
const CONNECTIONS = 8

/** Milliseconds for a connection, also while all are in use, and after which an unused one is closed. */
const CONNECTING = 10_000
const IDLE = 60_000

/** Milliseconds until the process gives up on an answer: the server gave up before, unless it is cut off. */
const UNANSWERED = 40_000

const APPLICATION = 'interlingua'

/** Settings of a session, set once it exists: poolers between refuse them earlier. Milliseconds. */
const SESSION = { statement_timeout: 30_000, lock_timeout: 10_000, idle_in_transaction_session_timeout: 60_000 }

/** What the lock of migrations is called among all locks of applications in the database. */
const MIGRATION_LOCK = 4_747_001

const SAMPLE = 'x'.repeat(1024)

/** Opens a PostgreSQL database for the query layer: nothing connects before the first statement. */
export function postgres(url: string): Engine {
  const pool = new Pool({ ...connectionOf(url), max: CONNECTIONS, idleTimeoutMillis: IDLE })
  // A connection that is lost while nobody uses it: the next statement takes another.
  pool.on('error', () => {})
  pool.on('connect', client => client.on('error', () => {}))
  return {
    name: 'postgres',
    dialect: new Dialect({
      pool: { options: pool.options, connect: () => connectionOfPool(pool), end: () => pool.end() },
      onCreateConnection: async connection => {
        await connection.executeQuery(CompiledQuery.raw(SET_SESSION))
      },
    }),
    types: { bytes: 'bytea' },
    ddl: orderedByBytes,
    exclusively,
    moved: () => false,
    probe,
    rows: rowsOf,
  }
}

/** A connection; where the server gives no more of them, one of those that there are, as soon as it is free. */
async function connectionOfPool(pool: Pool): Promise<PoolClient> {
  for (;;) {
    try {
      return await pool.connect()
    } catch (thrown) {
      const isFew = (thrown as { code?: unknown }).code === TOO_MANY && pool.totalCount > 0
      if (!isFew || pool.options.max <= 1) throw thrown
      // Never more than before: each try makes it less, and ends.
      pool.options.max = Math.min(pool.options.max - 1, pool.totalCount)
      setTimeout(() => {
        pool.options.max = CONNECTIONS
      }, IDLE).unref()
    }
  }
}

/** PostgreSQL's code for too many connections. */
const TOO_MANY = '53300'

/** Whether another process that runs this program is connected to the database. */
export async function isPostgresInUse(url: string): Promise<boolean> {
  const client = new Client({ ...connectionOf(url), application_name: `${APPLICATION} store` })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query(
      'select 1 from pg_stat_activity where datname = current_database() and application_name = $1',
      [APPLICATION],
    )
    return rows.length > 0
  } finally {
    await client.end()
  }
}

/** A connection's settings; TLS is as the address's `sslmode` demands. The address may hold a password: it is never shown. */
const connectionOf = (url: string): ClientConfig => ({
  ...{ connectionString: url, application_name: APPLICATION, connectionTimeoutMillis: CONNECTING },
  ...{ query_timeout: UNANSWERED, keepAlive: true, keepAliveInitialDelayMillis: 10_000 },
  types: {
    getTypeParser: (id: number, format?: 'text') => NUMBERS.get(id) ?? types.getTypeParser(id, format),
  } as CustomTypesConfig,
})

/** Integers of 64 bits and sums of them are numbers, as in SQLite: times, bytes and money stay below 2^53. */
const NUMBERS: ReadonlyMap<number, typeof Number> = new Map([
  [types.builtins.INT8, Number],
  [types.builtins.NUMERIC, Number],
])

const SET_SESSION = `select ${Object.entries(SESSION).map(([name, value]) => `set_config('${name}', '${value}', false)`)}`

class Dialect extends PostgresDialect {
  override createQueryCompiler(): PostgresQueryCompiler {
    return new Compiler()
  }
}

/** PostgreSQL takes no NUL in text: it is stored as the character for what cannot be shown. */
class Compiler extends PostgresQueryCompiler {
  override compileQuery(node: RootOperationNode, id: Parameters<PostgresQueryCompiler['compileQuery']>[1]) {
    const query = super.compileQuery(node, id)
    return query.parameters.some(holdsNul) ? { ...query, parameters: query.parameters.map(withoutNul) } : query
  }
}

const holdsNul = (value: unknown): boolean => typeof value === 'string' && value.includes('\0')
const withoutNul = (value: unknown): unknown => (typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value)

/** Text is ordered by its bytes, as in SQLite, whatever language the database has. */
const orderedByBytes = (statement: string): string =>
  /^\s*create table/i.test(statement) ? statement.replaceAll(/(\w+ text)\b/g, '$1 collate "C"') : statement

/** Whoever changes the structure waits for whoever does, however long that takes. */
const exclusively = <Tables, T>(database: Kysely<Tables>, work: (one: Transaction<Tables>) => Promise<T>): Promise<T> =>
  database.transaction().execute(async one => {
    await sql`set local statement_timeout = 0`.execute(one)
    await sql`set local lock_timeout = 0`.execute(one)
    await sql`select pg_advisory_xact_lock(${sql.lit(MIGRATION_LOCK)})`.execute(one)
    return work(one)
  })

async function probe<Tables>(database: Kysely<Tables>): Promise<void> {
  await sql`insert into probes (sample) values (${SAMPLE})`.execute(database)
  await sql`delete from probes`.execute(database)
}

async function* rowsOf<Tables>(one: Transaction<Tables>, table: string, size: number): AsyncIterable<readonly Row[]> {
  await sql`declare copied no scroll cursor for select * from ${sql.table(table)}`.execute(one)
  for (;;) {
    const { rows } = await sql<Row>`fetch ${sql.lit(size)} from copied`.execute(one)
    if (rows.length === 0) break
    yield rows
  }
  await sql`close copied`.execute(one)
}
