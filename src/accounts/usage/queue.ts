import type { Log } from '../../log.ts'
import type { UsageRow } from '../../store/usage/row.ts'

/** Time for which rows are collected into a batch, and pause before a failed write is retried, in milliseconds. */
const INTERVAL = 1000
const RETRY = 2000
/** Number of rows per transaction. */
const BATCH = 5000
/**
 * Maximum number of rows in memory while the store is unavailable, about 20 MB. Further rows are dropped and counted.
 */
const MOST = 50_000
/** Number of attempts for a batch that fails although the store works. */
const ATTEMPTS = 3
/** Time limit for writing the last rows when the gateway stops, in milliseconds. */
const CLOSING = 5000
/** Interval between deletions of expired rows, in milliseconds. */
const SWEEP = 3_600_000

/** The destination of the queue's rows. */
export interface RowRecords {
  /** Stores rows. Rejects if nothing was stored. */
  add(rows: readonly UsageRow[]): Promise<void>
  /** Deletes rows older than a time. */
  sweep(before: number): Promise<void>
}

/** Dependencies of the queue. */
export interface UsageQueueOptions {
  readonly records: RowRecords
  readonly log: Log
  /** Retention of rows, in milliseconds. 0 records nothing and deletes nothing. */
  readonly retention: number
  /** Returns true if the error is a temporary fault of the store. */
  isFault(thrown: unknown): boolean
}

/** Queues usage rows and writes them in batches, so that no request waits for the store. */
export class UsageQueue {
  /** Number of rows that were dropped instead of stored. */
  dropped = 0
  /** Number of rows stored so far. */
  written = 0
  private readonly options: UsageQueueOptions
  private retention: number
  private waiting: UsageRow[] = []
  /** Batch that is being written or retried. */
  private batch: readonly UsageRow[] = []
  private attempts = 0
  private timer: NodeJS.Timeout | undefined
  private writing: Promise<boolean> | undefined
  private sweptAt = Number.NEGATIVE_INFINITY
  /** Timer that deletes expired rows even if the gateway records nothing new. */
  private readonly sweeping: NodeJS.Timeout
  private warned = false

  constructor(options: UsageQueueOptions) {
    this.options = options
    this.retention = options.retention
    this.sweeping = setInterval(() => this.sweep(), SWEEP).unref()
  }

  reload(retention: number): void {
    this.retention = retention
  }

  /** Number of rows that are not stored yet. */
  get queued(): number {
    return this.waiting.length + this.batch.length
  }

  /** Queues a row. */
  add(row: UsageRow): void {
    if (this.retention === 0) return
    if (this.queued >= MOST) return this.drop(1)
    this.waiting.push(row)
    if (this.timer === undefined && this.writing === undefined) this.later(INTERVAL)
  }

  private drop(count: number): void {
    this.dropped += count
    if (!this.warned)
      this.options.log.error({ most: MOST }, 'usage is dropped: too many rows are waiting for the store')
    this.warned = true
  }

  private later(milliseconds: number): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(this.due, milliseconds).unref()
  }

  private readonly due = (): void => {
    this.timer = undefined
    void this.flush()
  }

  /** Writes all queued rows. Returns true if all of them were stored. Never rejects. */
  flush(): Promise<boolean> {
    this.writing ??= this.write().finally(() => {
      this.writing = undefined
      if (this.queued > 0 && this.timer === undefined) this.later(this.batch.length > 0 ? RETRY : INTERVAL)
    })
    return this.writing
  }

  private async write(): Promise<boolean> {
    while (this.queued > 0) {
      if (this.batch.length === 0) this.batch = this.next()
      try {
        await this.options.records.add(this.batch)
        this.written += this.batch.length
        this.batch = []
        this.attempts = 0
        this.warned = false
      } catch (thrown) {
        if (this.options.isFault(thrown) || ++this.attempts < ATTEMPTS) return false
        this.dropBatch(thrown)
      }
    }
    this.sweep()
    return true
  }

  private next(): readonly UsageRow[] {
    if (this.waiting.length > BATCH) return this.waiting.splice(0, BATCH)
    const rows = this.waiting
    this.waiting = []
    return rows
  }

  /** Drops a batch that cannot be stored, so that it does not block later ones. */
  private dropBatch(err: unknown): void {
    this.options.log.error({ err, rows: this.batch.length }, 'usage cannot be recorded')
    this.dropped += this.batch.length
    this.batch = []
    this.attempts = 0
  }

  /** Deletes expired rows, at most once per interval. Deletes nothing if recording is turned off. */
  private sweep(): void {
    if (this.retention === 0 || performance.now() - this.sweptAt < SWEEP) return
    this.sweptAt = performance.now()
    const { records, log, isFault } = this.options
    records.sweep(Date.now() - this.retention).catch((err: unknown) => {
      if (!isFault(err)) log.error({ err }, 'expired usage cannot be deleted')
    })
  }

  /** Writes the last rows, with a time limit. */
  async close(): Promise<void> {
    clearTimeout(this.timer)
    clearInterval(this.sweeping)
    const end = performance.now() + CLOSING
    while (this.queued > 0 && performance.now() < end) {
      if (await this.flush()) continue
      clearTimeout(this.timer)
      await new Promise(done => setTimeout(done, 100))
    }
    clearTimeout(this.timer)
    if (this.queued > 0)
      this.options.log.error({ rows: this.queued }, 'usage was not recorded: the store is unavailable')
  }
}
