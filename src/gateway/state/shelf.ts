import { join } from 'node:path'
import type { Store } from '../../store/store.ts'
import type { Log } from '../report.ts'

/** Milliseconds after which what expired is deleted again. */
const SWEEP = 3_600_000
/** Milliseconds before a store that could not be opened is tried again. */
const REST = 5000

/** The store, opened when it is first needed; where it cannot be, answers go on without it. */
export class Shelf {
  readonly path: string
  private readonly log: Log
  private opening: Promise<Store | undefined> | undefined
  private timer: NodeJS.Timeout | undefined

  constructor(dataDir: string, log: Log) {
    this.path = join(dataDir, 'interlingua.sqlite')
    this.log = log
  }

  /** The store; undefined, and logged, where it cannot be opened. */
  get store(): Promise<Store | undefined> {
    this.opening ??= this.open()
    return this.opening
  }

  private async open(): Promise<Store | undefined> {
    try {
      const { openSqlite } = await import('../../store/store.ts')
      const store = await openSqlite(this.path)
      this.timer = setInterval(() => this.sweep(store), SWEEP).unref()
      this.sweep(store)
      return store
    } catch (err) {
      this.log.error({ err }, 'the store cannot be opened')
      setTimeout(() => (this.opening = undefined), REST).unref()
      return undefined
    }
  }

  private sweep(store: Store): void {
    store.sweep().catch((err: unknown) => this.log.error({ err }, 'the store cannot be swept'))
  }

  async close(): Promise<void> {
    clearInterval(this.timer)
    await (await this.opening)?.close()
  }
}
