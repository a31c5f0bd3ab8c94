import type { StoredTask, Tasks } from '../../store/tasks.ts'
import type { Refresher } from './refresher.ts'

/** Maximum number of a channel's tasks that are polled concurrently. */
const CONCURRENCY = 4
/** Maximum number of a channel's tasks that are polled per pass. */
const BATCH_SIZE = 256
/** Maximum interval between two passes, even if `poll` is longer, in milliseconds. */
const MAX_INTERVAL = 10_000

export interface PollerOptions {
  readonly store: () => Tasks
  readonly refresher: Refresher
  /** Returns the names of the configured channels. */
  channels(): readonly string[]
  /** Returns true if the store exists. Polling never creates one. */
  hasStore(): boolean
  readonly now: () => number
  /** Interval between two polls of a task, in milliseconds. 0 turns polling off. */
  readonly poll: () => number
  /** Stores finished videos and deletes expired ones. Called in every pass. */
  maintainFiles(): Promise<void>
  onFault(thrown: unknown): void
}

/** Lane for maintaining stored files. */
const FILES_LANE = Symbol('files')
/** Lane for unfinished submissions. */
const SUBMISSIONS_LANE = Symbol('submits')

/**
 * Polls tasks in the background until they end, including tasks of killed processes. Each channel has its own lane, so
 * that a slow upstream does not delay other channels.
 */
export class Poller {
  private readonly options: PollerOptions
  private timer: NodeJS.Timeout | undefined
  private readonly running = new Map<string | symbol, Promise<void>>()
  private isClosed = false

  constructor(options: PollerOptions) {
    this.options = options
  }

  /** Schedules the next pass, unless polling is turned off. */
  start(): void {
    clearTimeout(this.timer)
    const poll = this.options.poll()
    if (this.isClosed || poll === 0) return
    this.timer = setTimeout(() => this.runPass(), Math.min(poll, MAX_INTERVAL)).unref()
  }

  async close(): Promise<void> {
    this.isClosed = true
    clearTimeout(this.timer)
    await Promise.all(this.running.values())
  }

  /** Starts a pass in every lane whose previous pass has ended. */
  private runPass(): void {
    const { store, channels, hasStore, maintainFiles } = this.options
    if (hasStore()) {
      for (const channel of channels()) this.startLane(channel, () => this.poll(channel))
      this.startLane(SUBMISSIONS_LANE, async () => this.refresh(await store().submitting()))
      this.startLane(FILES_LANE, maintainFiles)
    }
    this.start()
  }

  private startLane(lane: string | symbol, work: () => Promise<void>): void {
    if (this.running.has(lane)) return
    const done = work()
      .catch(thrown => this.options.onFault(thrown))
      .finally(() => this.running.delete(lane))
    this.running.set(lane, done)
  }

  private async poll(channel: string): Promise<void> {
    const { store, refresher, now, poll } = this.options
    await this.refresh(await store().due(now(), Math.max(poll(), refresher.fresh), BATCH_SIZE, [channel]))
  }

  private async refresh(tasks: readonly StoredTask[]): Promise<void> {
    const queue = [...tasks]
    const work = async (): Promise<void> => {
      for (let task = queue.shift(); task !== undefined && !this.isClosed; task = queue.shift())
        await this.options.refresher.refresh(task)
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, work))
  }
}
