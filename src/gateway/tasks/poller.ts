import type { StoredTask, Tasks } from '../../store/tasks.ts'
import type { Refresher } from './refresher.ts'

/** Tasks of a channel that are polled at once. */
const AT_ONCE = 4
/** Tasks of a channel that are looked at in one go. */
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

/** Works that wait for none of a channel. */
const FILES = Symbol('files')
const SUBMITS = Symbol('submits')

/**
 * Brings tasks to their end although no caller asks for them, those that a killed process left among them. Each channel
 * is polled separately, so that one that hangs holds up no other.
 */
export class Poller {
  private readonly options: PollerOptions
  private timer: NodeJS.Timeout | undefined
  private readonly running = new Map<string | symbol, Promise<void>>()
  private isClosed = false

  constructor(options: PollerOptions) {
    this.options = options
  }

  /** Looks at all tasks, soon and again and again, as long as there is an interval. */
  start(): void {
    clearTimeout(this.timer)
    const poll = this.options.poll()
    if (this.isClosed || poll === 0) return
    this.timer = setTimeout(() => this.look(), Math.min(poll, USUAL)).unref()
  }

  async close(): Promise<void> {
    this.isClosed = true
    clearTimeout(this.timer)
    await Promise.all(this.running.values())
  }

  /** Begins whatever is not still at work since the last look. */
  private look(): void {
    const { store, channels, hasStore, keepFiles } = this.options
    if (hasStore()) {
      for (const channel of channels()) this.work(channel, () => this.poll(channel))
      this.work(SUBMITS, async () => this.refresh(await store().submitting()))
      this.work(FILES, keepFiles)
    }
    this.start()
  }

  private work(lane: string | symbol, work: () => Promise<void>): void {
    if (this.running.has(lane)) return
    const done = work()
      .catch(thrown => this.options.onFault(thrown))
      .finally(() => this.running.delete(lane))
    this.running.set(lane, done)
  }

  private async poll(channel: string): Promise<void> {
    const { store, refresher, now, poll } = this.options
    await this.refresh(await store().due(now() - Math.max(poll(), refresher.fresh), BATCH, [channel]))
  }

  private async refresh(tasks: readonly StoredTask[]): Promise<void> {
    const queue = [...tasks]
    const ask = async (): Promise<void> => {
      for (let task = queue.shift(); task !== undefined && !this.isClosed; task = queue.shift())
        await this.options.refresher.refresh(task)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, ask))
  }
}
