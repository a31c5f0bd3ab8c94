import { type LimitEngine, NO_AMOUNTS } from './engine.ts'
import type { KeyUse } from './key-use.ts'

/** Returns the nanodollars that keys spent in the UTC day and month of time `at`, without those that spent nothing. */
export type ReadSpentBy = (
  keys: readonly string[],
  at: number,
) => Promise<ReadonlyMap<string, { readonly day: number; readonly month: number }>>

/** Dependencies of `SpendRecount`. */
export interface SpendRecountOptions {
  readonly counts: LimitEngine
  /** Returns true if this process or machine counts on its own at the moment. */
  readonly isAlone: () => boolean
  readonly spentBy: ReadSpentBy
  /** Keys that this process knows, by id. */
  readonly keys: ReadonlyMap<string, KeyUse>
  /** Returns the Unix time in milliseconds. */
  readonly now: () => number
  /** Milliseconds between two recounts. */
  readonly interval: number
}

/**
 * Time between reading the spend and raising the counts, in milliseconds. By then, the counts have got all costs of the
 * rows that were read: otherwise a cost on its way to them would be added to a spend that includes it.
 */
const ARRIVAL_MS = 1000

/**
 * Raises the spend in the shared counts of the keys that were used lately to that of their usage rows. Redis may evict
 * counts when its memory is full, and with them the reservations of running requests, whose settlements then correct
 * nothing. Counts of a new budget lack rows that another process was about to write. No request waits for it.
 */
export class SpendRecount {
  private readonly options: SpendRecountOptions
  private readonly timer: NodeJS.Timeout
  private isRunning = false
  private isClosed = false

  constructor(options: SpendRecountOptions) {
    this.options = options
    this.timer = setInterval(() => void this.recount(), options.interval).unref()
  }

  close(): void {
    clearInterval(this.timer)
    this.isClosed = true
  }

  private async recount(): Promise<void> {
    if (this.isRunning || this.options.isAlone()) return
    this.isRunning = true
    // The store reports its own faults. A later recount makes up for this one when the key is used again.
    await this.raiseUsed().catch(() => {})
    this.isRunning = false
  }

  private async raiseUsed(): Promise<void> {
    const { counts, spentBy, keys, now } = this.options
    const used = [...keys].filter(([, use]) => use.hasBudget && use.takeUsed()).map(([key]) => key)
    if (used.length === 0) return
    const at = now()
    const spent = await spentBy(used, at)
    await new Promise<void>(resolve => setTimeout(resolve, ARRIVAL_MS).unref())
    for (const [key, { day, month }] of spent) {
      const limits = keys.get(key)?.limits
      if (limits === undefined || this.isClosed) continue
      await counts.step({ ...NO_AMOUNTS, key, limits, initial: { day, month, at }, raisesSpend: true })
    }
  }
}
