import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Log } from '../../log.ts'
import type { UsageRow } from '../../store/usage/row.ts'

/** Time for which rows are collected into a batch, in milliseconds. */
const BATCH_INTERVAL_MS = 1000
/** Pause before a failed write is retried, in milliseconds. */
const RETRY_DELAY_MS = 2000
/** Number of rows per transaction. */
const BATCH_SIZE = 5000
/**
 * Maximum number of rows in memory while the store is unavailable, about 20 MB. Further rows are dropped and counted.
 */
const MAX_ROWS = 50_000
/** Number of attempts for a batch that fails although the store works. */
const MAX_ATTEMPTS = 3
/** Maximum number of times that a batch and its parts are divided, to find the rows that cannot be stored. */
const MAX_DIVISIONS = 200
/** Time limit for writing the last rows when the gateway stops, in milliseconds. */
const CLOSE_TIMEOUT_MS = 5000
/** Interval between deletions of expired rows, in milliseconds. */
const SWEEP_INTERVAL_MS = 3_600_000

/** The destination of the queue's rows. */
export interface RowRecords {
  /** Stores rows. If it rejects, the same rows are added again: those that were stored are not stored twice. */
  add(rows: readonly UsageRow[]): Promise<void>
  /** Deletes rows older than `before`. `at` is the time by the same clock: the store's clock may be behind it. */
  sweep(before: number, at: number): Promise<void>
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
  storedCount = 0
  private readonly options: UsageQueueOptions
  private retention: number
  private queuedRows: UsageRow[] = []
  /** Batch that is being written or retried. */
  private batch: readonly UsageRow[] = []
  /** Parts of a divided batch that are written next. */
  private parts: (readonly UsageRow[])[] = []
  private divisions = 0
  private attempts = 0
  private timer: NodeJS.Timeout | undefined
  private pendingWrite: Promise<boolean> | undefined
  /** Number of rows queued so far. */
  private addedCount = 0
  /** Resolves with the end of the current batch: true if its rows no longer wait. */
  private batchEnd = Promise.withResolvers<boolean>()
  private sweptAt = Number.NEGATIVE_INFINITY
  /** Timer that deletes expired rows even if the gateway records nothing new. */
  private readonly sweepTimer: NodeJS.Timeout
  private hasWarned = false

  constructor(options: UsageQueueOptions) {
    this.options = options
    this.retention = options.retention
    this.sweepTimer = setInterval(() => this.sweep(), SWEEP_INTERVAL_MS).unref()
  }

  reload(retention: number): void {
    this.retention = retention
  }

  /** Number of rows that are not stored yet. */
  get queued(): number {
    return this.parts.reduce((count, rows) => count + rows.length, this.queuedRows.length + this.batch.length)
  }

  /** Queues a row. */
  add(row: UsageRow): void {
    if (this.retention === 0) return
    if (this.queued >= MAX_ROWS) return this.drop(1)
    this.queuedRows.push(row)
    this.addedCount++
    if (this.timer === undefined && this.pendingWrite === undefined) this.later(BATCH_INTERVAL_MS)
  }

  private drop(count: number): void {
    this.dropped += count
    if (!this.hasWarned)
      this.options.log.error({ most: MAX_ROWS }, 'usage is dropped: too many rows are waiting for the store')
    this.hasWarned = true
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
    this.pendingWrite ??= this.write().finally(() => {
      this.pendingWrite = undefined
      if (this.queued > 0 && this.timer === undefined)
        this.later(this.batch.length > 0 ? RETRY_DELAY_MS : BATCH_INTERVAL_MS)
    })
    return this.pendingWrite
  }

  /**
   * Waits until the rows queued so far are stored, but not for later ones, which busy callers add all the time. Returns
   * early if they cannot be stored now.
   */
  async written(): Promise<void> {
    const count = this.addedCount
    const waits = (): boolean => this.addedCount - this.queued < count
    while (waits()) {
      void this.flush()
      if (!(await this.batchEnd.promise)) return
    }
  }

  /** Ends the current batch for those who wait for its rows. */
  private endBatch(isGone: boolean): boolean {
    const { resolve } = this.batchEnd
    this.batchEnd = Promise.withResolvers()
    resolve(isGone)
    return isGone
  }

  private async write(): Promise<boolean> {
    while (this.queued > 0) {
      if (this.batch.length === 0) this.batch = this.next()
      try {
        await this.options.records.add(this.batch)
        this.storedCount += this.batch.length
        this.batch = []
        this.attempts = 0
        this.hasWarned = false
      } catch (thrown) {
        if (this.options.isFault(thrown) || ++this.attempts < MAX_ATTEMPTS) return this.endBatch(false)
        if (this.batch.length > 1 && this.divisions < MAX_DIVISIONS) {
          this.divideBatch()
          await yieldToEventLoop()
          continue
        }
        this.dropBatch(thrown)
      }
      this.endBatch(true)
    }
    this.sweep()
    return true
  }

  private next(): readonly UsageRow[] {
    const part = this.parts.shift()
    if (part !== undefined) {
      // The whole batch had all of its attempts.
      this.attempts = MAX_ATTEMPTS - 1
      return part
    }
    this.divisions = 0
    if (this.queuedRows.length > BATCH_SIZE) return this.queuedRows.splice(0, BATCH_SIZE)
    const rows = this.queuedRows
    this.queuedRows = []
    return rows
  }

  /** Divides a batch that cannot be stored, so that one row does not cost the others. */
  private divideBatch(): void {
    const middle = this.batch.length >> 1
    this.parts.unshift(this.batch.slice(0, middle), this.batch.slice(middle))
    this.batch = []
    this.divisions++
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
    if (this.retention === 0 || performance.now() - this.sweptAt < SWEEP_INTERVAL_MS) return
    this.sweptAt = performance.now()
    const { records, log, isFault } = this.options
    const now = Date.now()
    records.sweep(now - this.retention, now).catch((err: unknown) => {
      if (!isFault(err)) log.error({ err }, 'expired usage cannot be deleted')
    })
  }

  /** Writes the last rows, with a time limit. */
  async close(): Promise<void> {
    clearTimeout(this.timer)
    clearInterval(this.sweepTimer)
    const end = performance.now() + CLOSE_TIMEOUT_MS
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
