import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type QueryResult,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
} from 'kysely'

/** Maximum time that a statement waits for a lock of another process, in milliseconds. */
const MAX_WAIT_MS = 2000
/** First pause between attempts to get the lock, in milliseconds. It doubles with each attempt. */
const FIRST_PAUSE_MS = 1
/** Maximum pause between attempts to get the lock, in milliseconds. */
const MAX_PAUSE_MS = 20

/** SQLITE_BUSY: another connection holds the lock. Its extended codes have further bits. */
const BUSY = 5

/** Returns true if a statement failed because another connection holds the lock. */
export const isBusy = (thrown: unknown): boolean => (Number((thrown as { errcode?: unknown }).errcode) & 0xff) === BUSY

/**
 * Kysely's dialect for a connection without a busy timeout, which would stop the event loop. Statements wait for locks
 * of other processes by trying again, and meanwhile others of this process run.
 */
export class SessionDialect extends SqliteDialect {
  private readonly connection: DatabaseSync
  private readonly statements: SqliteDatabase

  constructor(connection: DatabaseSync, statements: SqliteDatabase) {
    super({ database: statements })
    this.connection = connection
    this.statements = statements
  }

  override createAdapter(): SqliteAdapter {
    return new SessionAdapter()
  }

  override createDriver(): SqliteDriver {
    return new SessionDriver(this.connection, this.statements)
  }
}

class SessionAdapter extends SqliteAdapter {
  /** The driver has a mutex of its own, because Kysely's would be held during each wait. */
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

/** Lets one session at a time use the connection. */
class SessionDriver extends SqliteDriver {
  private readonly connection: DatabaseSync
  private readonly mutex = new Mutex()

  constructor(connection: DatabaseSync, database: SqliteDatabase) {
    super({ database })
    this.connection = connection
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const inner = await super.acquireConnection()
    await this.mutex.lock()
    return new Session(inner, this.connection, this.mutex)
  }

  override async releaseConnection(): Promise<void> {
    this.mutex.unlock()
  }
}

/** The statements of one user of the connection, in or outside of a transaction. */
class Session implements DatabaseConnection {
  private readonly inner: DatabaseConnection
  private readonly connection: DatabaseSync
  private readonly mutex: Mutex
  /** True until the first statement ran. Until then the connection has no state of this session, such as a pragma. */
  private isFresh = true

  constructor(inner: DatabaseConnection, connection: DatabaseSync, mutex: Mutex) {
    this.inner = inner
    this.connection = connection
    this.mutex = mutex
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    let pause = FIRST_PAUSE_MS
    for (let waited = 0; ; waited += pause, pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
      try {
        const result = await this.inner.executeQuery<R>(query)
        this.isFresh = false
        return result
      } catch (thrown) {
        // A transaction holds the lock already, and is repeated as a whole.
        if (!isBusy(thrown) || this.connection.isTransaction || waited >= MAX_WAIT_MS) throw thrown
      }
      await this.wait(pause)
    }
  }

  streamQuery<R>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<R>> {
    return this.inner.streamQuery<R>(query, chunkSize)
  }

  /** Waits, and lets other sessions run meanwhile if this one did not begin yet. */
  private async wait(milliseconds: number): Promise<void> {
    if (!this.isFresh) return sleep(milliseconds)
    this.mutex.unlock()
    await sleep(milliseconds)
    await this.mutex.lock()
  }
}

/** Has one holder at a time, in order of arrival. */
class Mutex {
  private isHeld = false
  private readonly waiting: (() => void)[] = []

  async lock(): Promise<void> {
    if (this.isHeld) await new Promise<void>(resolve => this.waiting.push(resolve))
    this.isHeld = true
  }

  unlock(): void {
    const next = this.waiting.shift()
    if (next === undefined) this.isHeld = false
    else next()
  }
}
