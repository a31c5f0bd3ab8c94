import type { Tasks } from '../store/tasks.ts'
import type { Refresher } from './refresher.ts'

/** Tasks whose state is asked for at once. */
const AT_ONCE = 8
/** Tasks that are looked at in one go. */
const BATCH = 256
/** The longest pause of a background that has none of its own, in milliseconds. */
const USUAL = 10_000

export interface PollerOptions {
  readonly store: () => Tasks
  readonly refresher: Refresher
  /** The names of the channels in use. */
  channels(): readonly string[]
  /** Whether anything was ever stored: a store that is not there is not made. */
  hasStore(): boolean
  readonly now: () => number
  /** Milliseconds between two looks; 0 for none. */
  readonly poll: () => number
  /** What else is done between: finished videos are kept, and old ones deleted. */
  keepFiles(): Promise<void>
  onFault(thrown: unknown): void
}

/** Brings tasks to their end although no caller asks for them, those that a killed process left among them. */
export class Poller {
  private readonly options: PollerOptions
  private timer: NodeJS.Timeout | undefined
  private running: Promise<void> | undefined
  private isClosed = false

  constructor(options: PollerOptions) {
    this.options = options
  }

  /** Looks at all tasks, soon and again and again, as long as there is an interval. */
  start(): void {
    clearTimeout(this.timer)
    const poll = this.options.poll()
    if (this.isClosed || poll === 0) return
    this.timer = setTimeout(() => this.tick(), Math.min(poll, USUAL)).unref()
  }

  /** One look. Never rejects. */
  look(): Promise<void> {
    this.running ??= this.work()
      .catch(thrown => this.options.onFault(thrown))
      .finally(() => {
        this.running = undefined
      })
    return this.running
  }

  async close(): Promise<void> {
    this.isClosed = true
    clearTimeout(this.timer)
    await this.running
  }

  private tick(): void {
    void this.look().then(() => this.start())
  }

  private async work(): Promise<void> {
    const { store, refresher, now, poll, hasStore, channels } = this.options
    if (!hasStore()) return
    const open = await store().submitting()
    const due = await store().due(now() - Math.max(poll(), refresher.fresh), BATCH, channels())
    const queue = [...open, ...due]
    const ask = async (): Promise<void> => {
      for (let task = queue.shift(); task !== undefined && !this.isClosed; task = queue.shift())
        await refresher.refresh(task)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, ask))
    if (!this.isClosed) await this.options.keepFiles()
  }
}
