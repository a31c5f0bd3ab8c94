import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  PostgresDriver,
  type PostgresPool,
  type TransactionSettings,
} from 'kysely'
import type { Pool, PoolClient } from 'pg'

/**
 * Maximum number of connections per process. Few suffice, because statements take milliseconds, and by default a server
 * allows 100 connections for all instances.
 */
export const MAX_CONNECTIONS = 8

/** Idle time after which a connection is closed, in milliseconds. */
export const IDLE_TIMEOUT_MS = 60_000

/**
 * Isolation of transactions, whatever the default of the database is: with a stricter one, the server rolls back all but
 * one of several transactions that change the same row, instead of letting them wait for each other.
 */
const ISOLATION = 'read committed'

/**
 * Settings of a session, with times in milliseconds. Set after connecting, because poolers reject them as startup
 * parameters.
 */
const SETTINGS = {
  statement_timeout: 30_000,
  lock_timeout: 10_000,
  idle_in_transaction_session_timeout: 60_000,
  default_transaction_isolation: ISOLATION,
}

/** Statement that makes all settings, for the session or for the transaction that runs. */
const settingsOf = (scope: 'session' | 'transaction'): string =>
  `select ${Object.entries(SETTINGS).map(([name, value]) => `set_config('${name}', '${value}', ${scope === 'transaction'})`)}`

/** The connections of a pool, with the gateway's settings. */
export class PostgresSessions implements PostgresPool {
  /**
   * True if the last connection leads to a pooler. Its sessions serve other applications, too, so that only
   * transactions have the settings there.
   */
  private isPooled = false
  private readonly pool: Pool
  private readonly readyConnections = new WeakSet<PoolClient>()

  constructor(pool: Pool) {
    this.pool = pool
  }

  get options(): object {
    return this.pool.options
  }

  end(): Promise<void> {
    return this.pool.end()
  }

  /** Builds the driver of Kysely for these connections. */
  driver(): Driver {
    return new SessionDriver(this, () => this.isPooled)
  }

  /**
   * Gets a connection whose session settings are set. One on which they cannot be set goes back to the pool, which would
   * wait for it for ever.
   */
  async connect(): Promise<PoolClient> {
    const client = await this.openConnection()
    if (this.readyConnections.has(client)) return client
    try {
      const { processID } = client as unknown as { readonly processID: number | null }
      // A pooler states a process id of its own.
      const { rows } = await client.query(`${settingsOf('session')} where pg_backend_pid() = ${Number(processID)}`)
      this.isPooled = rows.length === 0
    } catch (thrown) {
      client.release(true)
      throw thrown
    }
    this.readyConnections.add(client)
    return client
  }

  /**
   * Gets a connection from the pool. If the server refuses more connections, shrinks the pool and waits for an existing
   * one.
   */
  private async openConnection(): Promise<PoolClient> {
    const { pool } = this
    for (;;) {
      try {
        return await pool.connect()
      } catch (thrown) {
        const isFew = (thrown as { code?: unknown }).code === TOO_MANY_CONNECTIONS && pool.totalCount > 0
        if (!isFew || pool.options.max <= 1) throw thrown
        // The retries terminate, because each one lowers the maximum.
        pool.options.max = Math.min(pool.options.max - 1, pool.totalCount)
        setTimeout(() => {
          pool.options.max = MAX_CONNECTIONS
        }, IDLE_TIMEOUT_MS).unref()
      }
    }
  }
}

/** SQLSTATE of `too_many_connections`. */
const TOO_MANY_CONNECTIONS = '53300'

/** Kysely's driver. Makes the settings in each transaction if the sessions are those of a pooler. */
class SessionDriver extends PostgresDriver {
  private readonly isPooled: () => boolean

  constructor(pool: PostgresPool, isPooled: () => boolean) {
    super({ pool })
    this.isPooled = isPooled
  }

  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    await super.beginTransaction(connection, { ...settings, isolationLevel: ISOLATION })
    if (!this.isPooled()) return
    try {
      await connection.executeQuery(CompiledQuery.raw(settingsOf('transaction')))
    } catch (thrown) {
      await connection.executeQuery(CompiledQuery.raw('rollback')).catch(() => {})
      throw thrown
    }
  }
}
