import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { GatewayError } from '../canonical/error.ts'
import type { StoreConfig } from '../config/types.ts'
import { type Log, LogOnce } from '../log.ts'
import { Outage } from '../outage.ts'
import { NewerStore, READABLE, type StoreFault, storeFault, UNAVAILABLE } from './fault.ts'
import { type Guard, guardedRoom } from './guarded-room.ts'
import { Heartbeat } from './heartbeat.ts'
import type { Liveness } from './liveness.ts'
import { LockedFiles } from './locked-files.ts'
import { MODES, type Mode } from './modes.ts'
import { isUndone, loggable } from './postgres-fault.ts'
import type { Store } from './store.ts'

/** Milliseconds after which what expired is deleted again. */
const SWEEP = 3_600_000
/** Milliseconds before a store at fault is tried again, and for which one that took something counts as sound. */
const REST = 2000
/** Milliseconds before a fault that comes and goes is logged again. */
const INTERVAL = 60_000
/** How often work is begun again that a server undid because others waited for it in a circle. */
const TRIES = 3
/** Milliseconds before a server whose connection was lost is tried again for the first time. */
const RECONNECT = 100

/** What is stored: turns, conversations, events, tasks and what instances share. */
export type StoreView = Pick<
  LazyStore,
  'exists' | 'turns' | 'conversations' | 'events' | 'tasks' | 'usage' | 'shared' | 'liveness' | 'takes' | 'check'
>

/**
 * The store, opened when it is first needed. A fault of it is logged once a kind and is a 503 for requests that need what is
 * kept, and it is tried again until it works; what can still be read is read meanwhile.
 */
export class LazyStore {
  /** How the rooms get at the store. */
  private readonly guard: Guard = {
    exists: () => this.opening !== undefined || this.exists(),
    use: (mode, work) => this.use(mode, work),
  }
  /** The rooms of the store. Where it is at fault, every call of them rejects with `UNAVAILABLE`. */
  readonly turns = guardedRoom(MODES.turns, this.guard, store => store.turns)
  readonly conversations = guardedRoom(MODES.conversations, this.guard, store => store.conversations)
  readonly events = guardedRoom(MODES.events, this.guard, store => store.events)
  readonly tasks = guardedRoom(MODES.tasks, this.guard, store => store.tasks)
  readonly access = guardedRoom(MODES.access, this.guard, store => store.access)
  readonly console = guardedRoom(MODES.console, this.guard, store => store.console)
  readonly usage = guardedRoom(MODES.usage, this.guard, store => store.usage)
  readonly shared = guardedRoom(MODES.shared, this.guard, store => store.shared)
  readonly captures = guardedRoom(MODES.captures, this.guard, store => store.captures)
  /** Accesses that failed. */
  faultCount = 0
  /** Which of the processes that share the store are alive. */
  readonly liveness: Liveness
  private readonly config: StoreConfig
  private readonly log: Log
  private opening: Promise<Store> | undefined
  private inUse: Store | undefined
  private fault: { readonly kind: StoreFault; readonly reads: boolean } | undefined
  /** Logs a fault once, wherever it is met, and once that the store works again; one that comes and goes once a minute. */
  private readonly outage: Outage
  /** Logs rows that are damaged by themselves. */
  private readonly damages: LogOnce
  private soundAt = Number.NEGATIVE_INFINITY
  private sweeping: NodeJS.Timeout | undefined
  private retrying: NodeJS.Timeout | undefined
  private closed = false

  /** @param dataDir the folder of files beside the database. */
  constructor(config: StoreConfig, dataDir: string, log: Log) {
    this.config = config
    this.liveness =
      config.engine === 'sqlite'
        ? new LockedFiles(join(dataDir, 'processes'))
        : new Heartbeat(guardedRoom(MODES.processes, this.guard, store => store.processes))
    this.log = log
    const began = 'the store cannot be used'
    this.outage = new Outage(log, { began, ended: 'the store works again' }, INTERVAL)
    this.damages = new LogOnce(err => log.error({ store: 'damaged', err }, began), { interval: INTERVAL })
  }

  /**
   * Refuses to start with a store of a newer version of the program. A server is connected to and migrated; one that
   * cannot be reached is a fault that passes. A file is looked at where there is one, and stays closed.
   *
   * @throws NewerStore.
   */
  async start(): Promise<void> {
    if (this.config.engine === 'sqlite') {
      if (this.exists()) (await import('./peek.ts')).checkSqlite(this.config.path)
      return
    }
    await this.opened().catch(thrown => {
      if (thrown instanceof NewerStore) throw thrown
      this.failed(thrown, 'writes')
    })
  }

  /** Whether anything may be stored: a file that is not there is not made to look into it. */
  exists(): boolean {
    return this.config.engine !== 'sqlite' || existsSync(this.config.path)
  }

  /** Whether something can be kept, as far as it is known: what is wrong may show only when it is tried. */
  async takes(): Promise<boolean> {
    if (this.fault === undefined) await this.opened().catch(thrown => this.failed(thrown, 'writes'))
    return this.fault === undefined
  }

  /** What is wrong with the store, tried anew unless that was just done. */
  async check(): Promise<StoreFault | undefined> {
    if (this.fault === undefined && performance.now() - this.soundAt > REST) await this.attempt()
    return this.fault?.kind
  }

  private async use<T>(mode: Mode, work: (store: Store) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      if (this.closed || (this.fault !== undefined && (mode === 'writes' || !this.fault.reads))) {
        this.outage.affects()
        throw UNAVAILABLE
      }
      let store: Store | undefined
      try {
        store = await (mode === 'writes' ? this.current() : this.opened())
        const done = await work(store)
        if (mode === 'writes') this.soundAt = performance.now()
        return done
      } catch (thrown) {
        if (tries === TRIES || !isUndone(thrown)) throw this.failed(thrown, mode, store)
      }
    }
  }

  /** The store, unless its file was taken away: then a new one is begun at its place. */
  private async current(): Promise<Store> {
    const store = await this.opened()
    if (!store.moved()) return store
    this.log.warn({}, 'the file of the store was taken away: it is begun anew')
    this.drop()
    return this.opened()
  }

  private opened(): Promise<Store> {
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
    clearInterval(this.sweeping)
    this.sweeping = setInterval(() => this.sweep(store), SWEEP).unref()
    this.sweep(store)
    return store
  }

  private sweep(store: Store): void {
    store.sweep().catch(thrown => this.failed(thrown, 'writes', store))
  }

  /**
   * What is thrown to callers instead: a fault of the store lasts until the store works again.
   *
   * @param store the one at which it showed: one that is given up already shows nothing new.
   */
  private failed(thrown: unknown, mode: Mode, store?: Store): unknown {
    if (thrown instanceof GatewayError) return thrown
    // A row that is no JSON is damaged by itself.
    const kind = thrown instanceof SyntaxError ? 'damaged' : storeFault(thrown)
    if (kind === undefined) return loggable(thrown)
    if (store !== undefined && store !== this.inUse) return UNAVAILABLE
    this.faultCount++
    if (thrown instanceof SyntaxError) this.damages.log(thrown, kind)
    else {
      this.outage.began(thrown, { store: kind })
      this.outage.affects()
      this.rest(kind, mode)
    }
    return UNAVAILABLE
  }

  private rest(kind: StoreFault, mode: Mode): void {
    if (!READABLE.has(kind)) this.drop()
    const isLost = kind === 'unreachable' && this.fault === undefined && this.config.engine === 'postgres'
    this.fault = { kind, reads: mode === 'writes' && this.opening !== undefined }
    if (!this.closed) this.retrying ??= setTimeout(this.retry, isLost ? RECONNECT : REST).unref()
  }

  private readonly retry = async (): Promise<void> => {
    this.retrying = undefined
    await this.attempt()
  }

  private async attempt(): Promise<void> {
    if (this.closed) return
    try {
      const store = await this.current()
      await store.probe()
      this.soundAt = performance.now()
      this.recovered()
    } catch (thrown) {
      const failure = this.failed(thrown, 'writes')
      if (failure !== UNAVAILABLE) this.log.error({ err: failure }, 'the store cannot be tried')
    }
  }

  private recovered(): void {
    if (this.fault === undefined) return
    this.fault = undefined
    this.outage.ended()
  }

  /** The connection is of no use any more. */
  private drop(): void {
    this.opening?.then(store => store.close()).catch(() => {})
    this.opening = undefined
    this.inUse = undefined
    clearInterval(this.sweeping)
  }

  async close(): Promise<void> {
    await this.liveness.close()
    this.closed = true
    clearInterval(this.sweeping)
    clearTimeout(this.retrying)
    // A sweep that is cut off here is no fault.
    this.inUse = undefined
    await this.opening?.then(store => store.close()).catch(() => {})
  }
}
