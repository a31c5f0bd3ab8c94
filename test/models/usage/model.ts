import type { UsageRow } from '../../../src/store/usage/row.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Rows that one process took and has not stored, as far as it knows. */
class Queue {
  /** Rows that are written together, also if that is tried again. */
  batch: readonly UsageRow[] = []
  waiting: UsageRow[] = []

  next(): readonly UsageRow[] {
    if (this.batch.length === 0) {
      this.batch = this.waiting
      this.waiting = []
    }
    return this.batch
  }
}

/** Requests and cost of one key in one interval. */
export interface Sum {
  readonly at: number
  readonly requests: number
  readonly cost: number
}

/** Every row that processes took, and those that the store has or had. */
export class UsageModel {
  now = Date.UTC(2026, 10, 30, 22)
  readonly queues: readonly Queue[]
  /** All rows that were ever stored, by id. */
  readonly stored = new Map<string, UsageRow>()
  /** Ids of the rows that are still kept. */
  private readonly kept = new Set<string>()
  /** Number of rows so far. */
  count = 0

  constructor(processes: number) {
    this.queues = Array.from({ length: processes }, () => new Queue())
  }

  /** Writes the rows of a process. Only the first batch fails. Returns whether all are stored. */
  flush(process: number, failure: 'before' | 'after' | undefined): boolean {
    const queue = this.queues[process]!
    for (let first = true; queue.next().length > 0; first = false) {
      if (!first || failure !== 'before') this.store(queue.batch)
      if (first && failure !== undefined) return false
      queue.batch = []
    }
    return true
  }

  /** Rows that are written again are there already. */
  private store(rows: readonly UsageRow[]): void {
    for (const row of rows) {
      if (!this.stored.has(row.id)) this.kept.add(row.id)
      this.stored.set(row.id, row)
    }
  }

  /** Deletes the rows before a time. Their sums stay. */
  sweep(before: number): void {
    for (const { id, at } of this.stored.values()) if (at < before) this.kept.delete(id)
  }

  /** Ids of the rows that are kept, newest first. */
  rows(): readonly string[] {
    const kept = [...this.kept].map(id => this.stored.get(id)!)
    return kept.sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1)).map(({ id }) => id)
  }

  /** Sums of all rows by interval, the earliest first. */
  sums(unit: typeof HOUR | typeof DAY): readonly Sum[] {
    const byInterval = Map.groupBy(this.stored.values(), ({ at }) => at - (at % unit))
    return [...byInterval]
      .sort(([a], [b]) => a - b)
      .map(([at, rows]) => ({ at, requests: rows.length, cost: costOf(rows) }))
  }

  /** Nanodollars that a key spent in the UTC day and month of now. */
  spent(key: string): { readonly day: number; readonly month: number } {
    const [today, rows] = [new Date(this.now).toISOString(), [...this.stored.values()].filter(row => row.key === key)]
    const during = (length: number) =>
      costOf(rows.filter(({ at }) => new Date(at).toISOString().slice(0, length) === today.slice(0, length)))
    return { day: during(10), month: during(7) }
  }
}

const costOf = (rows: readonly UsageRow[]): number => rows.reduce((sum, { cost = 0 }) => sum + cost, 0)
