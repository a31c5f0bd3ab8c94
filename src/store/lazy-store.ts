import { join } from 'node:path'
import { GatewayError } from '../canonical/error.ts'
import type { StoreConfig } from '../config/types.ts'
import type { Log } from '../log/index.ts'
import { LogOnce } from '../log/index.ts'
import { READABLE, type StoreFault, storeFault, UNAVAILABLE } from './fault.ts'
import {
  type AccessMode,
  guardedAccess,
  guardedConversations,
  guardedEvents,
  guardedTasks,
  guardedTurns,
  guardedUsage,
} from './guarded-store.ts'
import { Liveness } from './liveness.ts'
import type { Store } from './store.ts'

/** Milliseconds after which what expired is deleted again. */
const SWEEP = 3_600_000
/** Milliseconds before a store at fault is tried again, and for which one that took something counts as sound. */
const REST = 2000
/** Milliseconds before a fault that comes and goes is logged again. */
const INTERVAL = 60_000

/** What is stored: turns, conversations, events and tasks. */
export type StoreView = Pick<
  LazyStore,
  'path' | 'turns' | 'conversations' | 'events' | 'tasks' | 'usage' | 'liveness' | 'takes' | 'check'
>

/**
 * The store, opened when it is first needed. A fault of it is logged once a kind and is a 503 for requests that need what is
 * kept, and it is tried again until it works; what can still be read is read meanwhile.
 */
export class LazyStore {
  readonly path: string
  /** What is kept. Where the store is at fault, every call of them rejects with `UNAVAILABLE`. */
  readonly turns = guardedTurns((manner, work) => this.use(manner, ({ turns }) => work(turns)))
  readonly conversations = guardedConversations((manner, work) =>
    this.use(manner, ({ conversations }) => work(conversations)),
  )
  readonly events = guardedEvents((manner, work) => this.use(manner, ({ events }) => work(events)))
  readonly tasks = guardedTasks((manner, work) => this.use(manner, ({ tasks }) => work(tasks)))
  readonly access = guardedAccess((manner, work) => this.use(manner, ({ access }) => work(access)))
  readonly usage = guardedUsage((manner, work) => this.use(manner, ({ usage }) => work(usage)))
  /** Which of the processes that share the store are alive. */
  readonly liveness: Liveness
  private readonly log: Log
  private opening: Promise<Store> | undefined
  private fault: { readonly kind: StoreFault; readonly reads: boolean } | undefined
  /** Logs a fault once, wherever it is met, until the store works again; one that comes and goes once a minute. */
  private readonly faults: LogOnce
  private soundAt = Number.NEGATIVE_INFINITY
  private sweeping: NodeJS.Timeout | undefined
  private retrying: NodeJS.Timeout | undefined
  private closed = false

  /** @param dataDir the folder of files beside the database. */
  constructor(config: StoreConfig, dataDir: string, log: Log) {
    if (config.engine !== 'sqlite') throw new Error('PostgreSQL is not supported yet')
    this.path = config.path
    this.liveness = new Liveness(join(dataDir, 'processes'))
    this.log = log
    const write = (err: unknown, store: string) => log.error({ store, err }, 'the store cannot be used')
    this.faults = new LogOnce(write, { interval: INTERVAL, lasting: true })
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

  private async use<T>(manner: AccessMode, work: (store: Store) => Promise<T>): Promise<T> {
    if (this.closed || (this.fault !== undefined && (manner === 'writes' || !this.fault.reads))) throw UNAVAILABLE
    try {
      const done = await work(await (manner === 'writes' ? this.current() : this.opened()))
      if (manner === 'writes') this.soundAt = performance.now()
      return done
    } catch (thrown) {
      throw this.failed(thrown, manner)
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
    const { openSqlite } = await import('./store.ts')
    const store = await openSqlite(this.path)
    clearInterval(this.sweeping)
    this.sweeping = setInterval(() => this.sweep(store), SWEEP).unref()
    this.sweep(store)
    return store
  }

  private sweep(store: Store): void {
    store.sweep().catch(thrown => this.failed(thrown, 'writes'))
  }

  /** What is thrown to callers instead: a fault of the store lasts until the store works again. */
  private failed(thrown: unknown, manner: AccessMode): unknown {
    if (thrown instanceof GatewayError) return thrown
    // A row that is no JSON is damaged by itself.
    const kind = thrown instanceof SyntaxError ? 'damaged' : storeFault(thrown)
    if (kind === undefined) return thrown
    this.faults.log(thrown, kind)
    if (!(thrown instanceof SyntaxError)) this.rest(kind, manner)
    return UNAVAILABLE
  }

  private rest(kind: StoreFault, manner: AccessMode): void {
    if (!READABLE.has(kind)) this.drop()
    this.fault = { kind, reads: manner === 'writes' && this.opening !== undefined }
    if (!this.closed) this.retrying ??= setTimeout(this.retry, REST).unref()
  }

  private readonly retry = async (): Promise<void> => {
    this.retrying = undefined
    await this.attempt()
  }

  private async attempt(): Promise<void> {
    if (this.closed) return
    try {
      const store = await this.current()
      store.probe()
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
    if (this.faults.recovered()) this.log.info({}, 'the store works again')
  }

  /** The connection is of no use any more. */
  private drop(): void {
    this.opening?.then(store => store.close()).catch(() => {})
    this.opening = undefined
    clearInterval(this.sweeping)
  }

  async close(): Promise<void> {
    this.closed = true
    clearInterval(this.sweeping)
    clearTimeout(this.retrying)
    await this.opening?.then(store => store.close()).catch(() => {})
    this.liveness.close()
  }
}
