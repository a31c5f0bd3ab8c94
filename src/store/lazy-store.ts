import { accessSync, constants, existsSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { GatewayError } from '../canonical/error.ts'
import type { StoreConfig } from '../config/types.ts'
import { type Log, LogOnce } from '../log.ts'
import { Outage } from '../outage.ts'
import { NewerStore, READABLE_FAULTS, type StoreFault, storeFault, UNAVAILABLE } from './fault.ts'
import { type Guard, guardedRepository } from './guarded-repository.ts'
import { Heartbeat } from './heartbeat.ts'
import type { Liveness } from './liveness.ts'
import { LockedFiles } from './locked-files.ts'
import { MODES, type Mode } from './modes.ts'
import { isUndone, loggable } from './postgres-fault.ts'
import type { Store } from './store.ts'

/** Interval between deletions of expired data, in milliseconds. */
const SWEEP_INTERVAL_MS = 3_600_000
/**
 * Delay of the second deletion after the store was opened, in milliseconds. The first one deletes little, because the
 * machine may have started with a wrong clock.
 */
const SECOND_SWEEP_MS = 600_000
/**
 * Delay before a failed store is retried, in milliseconds. For the same time after a successful write, the store counts
 * as working.
 */
const RETRY_DELAY_MS = 2000
/**
 * Pause before a SQLite file is retried, per duration of the last attempt. SQLite waits ten seconds for the locks of a
 * file system that refuses them, and the event loop with it.
 */
const PAUSE_PER_ATTEMPT = 3
/** Minimum interval between log lines of a recurring fault, in milliseconds. */
const LOG_INTERVAL_MS = 60_000
/** Number of attempts for work that the server rolls back because of a deadlock or serialization failure. */
const MAX_ATTEMPTS = 3
/** Pause before the first reconnection to a server, in milliseconds. */
const RECONNECT_DELAY_MS = 100

/** Returns the folder of a SQLite file, which all processes that share the file find, whatever their data folders are. */
function folderOf(path: string, dataDir: string): string {
  if (path === ':memory:') return dataDir
  return dirname(existsSync(path) ? realpathSync(path) : resolve(path))
}

/**
 * Returns true if a new connection may write. After a failover, the address may lead to another server, while connections
 * to a standby stay open. A connection to a file stays read-only if its file system was when it began.
 */
function mayWriteAgain(config: StoreConfig): boolean {
  if (config.engine !== 'sqlite') return true
  try {
    accessSync(config.path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** The parts of the store that request handling needs: all except keys, console users and captures. */
export type StoreView = Pick<
  LazyStore,
  | 'exists'
  | 'turns'
  | 'conversations'
  | 'events'
  | 'tasks'
  | 'usage'
  | 'shared'
  | 'liveness'
  | 'takes'
  | 'check'
  | 'now'
  | 'deletionTime'
>

/**
 * The store, opened on first use and reopened after faults. While it is unavailable, requests that need it fail with
 * 503, the fault is logged once, and reads continue where the fault allows them.
 */
export class LazyStore {
  /** Access to the store for the repositories. */
  private readonly guard: Guard = {
    exists: () => this.opening !== undefined || this.exists(),
    use: (mode, work) => this.use(mode, work),
  }
  /** The repositories. While the store is unavailable, every call rejects with `UNAVAILABLE`. */
  readonly turns = guardedRepository(MODES.turns, this.guard, store => store.turns)
  readonly conversations = guardedRepository(MODES.conversations, this.guard, store => store.conversations)
  readonly events = guardedRepository(MODES.events, this.guard, store => store.events)
  readonly tasks = guardedRepository(MODES.tasks, this.guard, store => store.tasks)
  readonly access = guardedRepository(MODES.access, this.guard, store => store.access)
  /** Stored channels and settings of models. */
  readonly stored = guardedRepository(MODES.config, this.guard, store => store.config)
  readonly console = guardedRepository(MODES.console, this.guard, store => store.console)
  readonly usage = guardedRepository(MODES.usage, this.guard, store => store.usage)
  readonly shared = guardedRepository(MODES.shared, this.guard, store => store.shared)
  readonly captures = guardedRepository(MODES.captures, this.guard, store => store.captures)
  readonly audit = guardedRepository(MODES.audit, this.guard, store => store.audit)
  /** Number of failed calls. */
  faultCount = 0
  /** Detects which of the processes that share the store are alive. */
  readonly liveness: Liveness
  private readonly config: StoreConfig
  private readonly log: Log
  private opening: Promise<Store> | undefined
  private inUse: Store | undefined
  private fault: { readonly kind: StoreFault; readonly reads: boolean } | undefined
  /** Logs the start and the end of an outage. A recurring outage is logged at most once per `LOG_INTERVAL_MS`. */
  private readonly outage: Outage
  /** Logs single damaged rows. */
  private readonly damages: LogOnce
  /** Time of the last successful write, by `performance.now()`. */
  private healthyAt = Number.NEGATIVE_INFINITY
  private sweepTimer: NodeJS.Timeout | undefined
  private retryTimer: NodeJS.Timeout | undefined
  /** Duration of the last attempt if it failed, in milliseconds. */
  private attemptMs = 0
  private closed = false
  /** True if the file was found in its place in this turn of the event loop. */
  private isInPlace = false

  /** @param dataDir folder for the files that accompany the database. */
  constructor(config: StoreConfig, dataDir: string, log: Log) {
    this.config = config
    this.liveness =
      config.engine === 'sqlite'
        ? new LockedFiles(join(folderOf(config.path, dataDir), 'processes'), join(dataDir, 'processes'))
        : new Heartbeat(guardedRepository(MODES.processes, this.guard, store => store.processes))
    this.log = log
    const began = 'the store cannot be used'
    this.outage = new Outage(log, { began, ended: 'the store works again' }, LOG_INTERVAL_MS)
    this.damages = new LogOnce(err => log.error({ store: 'damaged', err }, began), { interval: LOG_INTERVAL_MS })
  }

  /**
   * Checks at startup that no newer version of the program migrated the store. Connects to a server and migrates it,
   * or retries later if the server is unreachable. Only inspects a SQLite file, and does not create a missing one.
   *
   * @throws NewerStore.
   */
  async start(): Promise<void> {
    if (this.config.engine === 'sqlite') {
      if (this.exists()) (await import('./applied.ts')).checkSqlite(this.config.path)
      return
    }
    await this.ensureOpen().catch(thrown => {
      if (thrown instanceof NewerStore) throw thrown
      this.recordFault(thrown, 'writes')
    })
  }

  /** Returns true if the store exists. Never creates a missing SQLite file. */
  exists(): boolean {
    return this.config.engine !== 'sqlite' || existsSync(this.config.path)
  }

  /** Returns the Unix time in milliseconds by the clock of the store, or by this machine's clock while none is open. */
  readonly now = (): number => this.inUse?.now() ?? Date.now()

  /** Returns the Unix time in milliseconds before which expired data may be deleted: none while no store is open. */
  readonly deletionTime = (): number => this.inUse?.deletionTime() ?? Number.NEGATIVE_INFINITY

  /** Returns true if the store accepts writes, as far as is known. A fault may only show on the next write. */
  async takes(): Promise<boolean> {
    if (this.fault === undefined) await this.ensureOpen().catch(thrown => this.recordFault(thrown, 'writes'))
    return this.fault === undefined
  }

  /**
   * Returns the current fault of the store. Tests the store first, unless a write succeeded within the last
   * `RETRY_DELAY_MS` milliseconds.
   */
  async check(): Promise<StoreFault | undefined> {
    if (this.fault === undefined && performance.now() - this.healthyAt > RETRY_DELAY_MS) await this.attempt()
    return this.fault?.kind
  }

  /** Runs work on the store in a mode, and retries it if the server rolled it back. */
  private async use<T>(mode: Mode, work: (store: Store) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      if (this.closed || (this.fault !== undefined && (mode === 'writes' || !this.fault.reads))) {
        this.outage.countAffected()
        throw UNAVAILABLE
      }
      let store: Store | undefined
      try {
        store = await (mode === 'writes' ? this.current() : this.ensureOpen())
        const result = await work(store)
        if (mode === 'writes') this.healthyAt = performance.now()
        return result
      } catch (thrown) {
        if (tries === MAX_ATTEMPTS || !isUndone(thrown)) throw this.recordFault(thrown, mode, store)
      }
    }
  }

  /** Returns the store for writing. Creates a new file if the open one was removed or replaced. */
  private async current(): Promise<Store> {
    const store = await this.ensureOpen()
    if (!this.hasMoved(store)) return store
    this.log.warn({}, 'creating a new store, because the file was removed or replaced')
    this.drop()
    return this.ensureOpen()
  }

  /**
   * Returns true if the file was removed or replaced. Checks once per turn, because a check costs more than a small
   * write.
   */
  private hasMoved(store: Store): boolean {
    if (this.isInPlace) return false
    if (store.moved()) return true
    this.isInPlace = true
    setImmediate(() => {
      this.isInPlace = false
    })
    return false
  }

  private ensureOpen(): Promise<Store> {
    this.opening ??= this.open().catch(thrown => {
      this.opening = undefined
      throw thrown
    })
    return this.opening
  }

  private async open(): Promise<Store> {
    const { openStore } = await import('./store.ts')
    const store = await openStore(this.config)
    this.inUse = store
    // The first look notes the files of this database, by which a later one recognises them.
    store.moved()
    this.sweep(store)
    this.sweepLater(store, SECOND_SWEEP_MS)
    return store
  }

  private sweepLater(store: Store, milliseconds: number): void {
    clearTimeout(this.sweepTimer)
    const sweep = (): void => {
      this.sweep(store)
      this.sweepLater(store, SWEEP_INTERVAL_MS)
    }
    this.sweepTimer = setTimeout(sweep, milliseconds).unref()
  }

  private sweep(store: Store): void {
    store.sweep().catch(thrown => this.recordFault(thrown, 'writes', store))
  }

  /**
   * Records a fault of the store and returns the error for the caller. A fault lasts until the store works again.
   *
   * @param store the store that failed. The fault of a closed store is ignored.
   */
  private recordFault(thrown: unknown, mode: Mode, store?: Store): unknown {
    if (thrown instanceof GatewayError) return thrown
    // Invalid JSON in a row damages only that row.
    const kind = thrown instanceof SyntaxError ? 'damaged' : storeFault(thrown)
    if (kind === undefined) return loggable(thrown)
    if (store !== undefined && store !== this.inUse) return UNAVAILABLE
    this.faultCount++
    if (thrown instanceof SyntaxError) this.damages.log(thrown, kind)
    else {
      this.outage.start(thrown, { store: kind })
      this.outage.countAffected()
      this.rest(kind, mode)
    }
    return UNAVAILABLE
  }

  /** Marks the store as failed and schedules a retry. */
  private rest(kind: StoreFault, mode: Mode): void {
    if (!READABLE_FAULTS.has(kind)) this.drop()
    const isLost = kind === 'unreachable' && this.fault === undefined && this.config.engine === 'postgres'
    this.fault = { kind, reads: mode === 'writes' && this.opening !== undefined }
    if (!this.closed) this.retryTimer ??= setTimeout(this.retry, isLost ? RECONNECT_DELAY_MS : this.retryDelay).unref()
  }

  private get retryDelay(): number {
    return this.config.engine === 'sqlite'
      ? Math.max(RETRY_DELAY_MS, PAUSE_PER_ATTEMPT * this.attemptMs)
      : RETRY_DELAY_MS
  }

  private readonly retry = async (): Promise<void> => {
    this.retryTimer = undefined
    await this.attempt()
  }

  /** Tests the store with a sample write, and ends the outage if it succeeds. */
  private async attempt(): Promise<void> {
    if (this.closed) return
    if (this.fault?.kind === 'read-only' && mayWriteAgain(this.config)) this.drop()
    const began = performance.now()
    try {
      const store = await this.current()
      await store.probe()
      this.healthyAt = performance.now()
      this.attemptMs = 0
      this.endFault()
    } catch (thrown) {
      // Closing ended the test.
      if (this.closed) return
      this.attemptMs = performance.now() - began
      const failure = this.recordFault(thrown, 'writes')
      if (failure !== UNAVAILABLE) this.log.error({ err: failure }, 'the store cannot be checked')
    }
  }

  private endFault(): void {
    if (this.fault === undefined) return
    this.fault = undefined
    this.outage.end()
  }

  /** Closes the connection, so that the next call opens a new one. */
  private drop(): void {
    this.opening?.then(store => store.close()).catch(() => {})
    this.opening = undefined
    this.inUse = undefined
    clearTimeout(this.sweepTimer)
  }

  async close(): Promise<void> {
    await this.liveness.close()
    this.closed = true
    clearTimeout(this.sweepTimer)
    clearTimeout(this.retryTimer)
    // A sweep interrupted by closing is not a fault.
    this.inUse = undefined
    await this.opening?.then(store => store.close()).catch(() => {})
  }
}
