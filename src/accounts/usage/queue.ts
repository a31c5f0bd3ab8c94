import type { Log } from '../../log.ts'
import type { UsageRow } from '../../store/usage/row.ts'

/** Milliseconds rows wait to be written together, and before a write that failed is repeated. */
const INTERVAL = 1000
const RETRY = 2000
/** Rows of one transaction. */
const BATCH = 5000
/** Rows that wait while the store cannot take them, some 20 MB; further ones are dropped and counted. */
const MOST = 50_000
/** Times a batch is tried that the store refuses for no fault of its own. */
const ATTEMPTS = 3
/** Milliseconds for the last rows when the gateway stops. */
const CLOSING = 5000
/** Milliseconds between two deletions of expired rows. */
const SWEEP = 3_600_000

/** Where rows go. */
export interface RowRecords {
  /** Rejects where nothing was stored. */
  add(rows: readonly UsageRow[]): Promise<void>
  sweep(before: number): Promise<void>
}

export interface UsageQueueOptions {
  readonly records: RowRecords
  readonly log: Log
  /** Milliseconds for which rows are kept; 0 records nothing. */
  readonly keep: number
  /** Whether what was thrown is a fault of the store, which passes. */
  isFault(thrown: unknown): boolean
}

/** Collects what requests used and writes it in batches: whatever happens to the store, no request waits for it. */
export class UsageQueue {
  /** Rows that were not stored, and will not be. */
  dropped = 0
  /** Rows that are stored. */
  written = 0
  private readonly options: UsageQueueOptions
  private keep: number
  private waiting: UsageRow[] = []
  /** The batch that is being written, or will be again. */
  private batch: readonly UsageRow[] = []
  private attempts = 0
  private timer: NodeJS.Timeout | undefined
  private writing: Promise<boolean> | undefined
  private sweptAt = Number.NEGATIVE_INFINITY
  private warned = false

  constructor(options: UsageQueueOptions) {
    this.options = options
    this.keep = options.keep
  }

  reload(keep: number): void {
    this.keep = keep
  }

  /** Rows that are not stored yet. */
  get queued(): number {
    return this.waiting.length + this.batch.length
  }

  take(row: UsageRow): void {
    if (this.keep === 0) return
    if (this.queued >= MOST) return this.drop(1)
    this.waiting.push(row)
    if (this.timer === undefined && this.writing === undefined) this.later(INTERVAL)
  }

  private drop(count: number): void {
    this.dropped += count
    if (!this.warned) this.options.log.error({ most: MOST }, 'usage is not recorded: too many rows wait for the store')
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

  /** Writes what waits; gives whether all of it was taken. Never rejects. */
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
        this.refused(thrown)
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

  /** A batch that cannot be stored, which later ones must not wait for. */
  private refused(err: unknown): void {
    this.options.log.error({ err, rows: this.batch.length }, 'usage cannot be recorded')
    this.dropped += this.batch.length
    this.batch = []
    this.attempts = 0
  }

  private sweep(): void {
    if (performance.now() - this.sweptAt < SWEEP) return
    this.sweptAt = performance.now()
    const { records, log, isFault } = this.options
    records.sweep(Date.now() - this.keep).catch((err: unknown) => {
      if (!isFault(err)) log.error({ err }, 'expired usage cannot be deleted')
    })
  }

  /** Writes the last rows, for as long as that takes at most. */
  async close(): Promise<void> {
    clearTimeout(this.timer)
    const end = performance.now() + CLOSING
    while (this.queued > 0 && performance.now() < end) {
      if (await this.flush()) continue
      clearTimeout(this.timer)
      await new Promise(done => setTimeout(done, 100))
    }
    clearTimeout(this.timer)
    if (this.queued > 0) this.options.log.error({ rows: this.queued }, 'usage was not recorded: the store took none')
  }
}
