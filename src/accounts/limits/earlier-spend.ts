import type { InitialSpend } from './engine.ts'

/** Reads the nanodollars that a key spent in the UTC day and month of time `at` (Unix milliseconds). */
export type ReadSpent = (key: string, at: number) => Promise<{ readonly day: number; readonly month: number }>

/** Timeout of a read, in milliseconds. */
const TIMEOUT_MS = 2000
/** Pause after a failed read, in milliseconds. */
const RETRY_DELAY_MS = 5000

/** Options: the function that reads, the clock and the listeners. */
export interface EarlierSpendOptions {
  readonly read: ReadSpent
  readonly now: () => number
  readonly onFault: (thrown: unknown) => void
  readonly onRecovery: () => void
}

/** Reads how much keys spent before their first step in this process. Concurrent requests of a key share one read. */
export class EarlierSpend {
  private readonly options: EarlierSpendOptions
  private readonly pendingReads = new Map<string, Promise<InitialSpend | undefined>>()
  private restsUntil = 0

  constructor(options: EarlierSpendOptions) {
    this.options = options
  }

  /** Returns the spend of a key, or undefined if the store cannot be read. Never rejects. */
  of(key: string): Promise<InitialSpend | undefined> {
    let spend = this.pendingReads.get(key)
    if (spend === undefined) {
      spend = this.read(key).finally(() => this.pendingReads.delete(key))
      this.pendingReads.set(key, spend)
    }
    return spend
  }

  private async read(key: string): Promise<InitialSpend | undefined> {
    const { now, read, onFault, onRecovery } = this.options
    const at = now()
    const rest = this.restsUntil - at
    // A longer rest means that the clock was set back.
    if (rest > 0 && rest <= RETRY_DELAY_MS) return undefined
    const timeout = Promise.withResolvers<never>()
    const timer = setTimeout(() => timeout.reject(new Error(`the store took longer than ${TIMEOUT_MS} ms`)), TIMEOUT_MS)
    try {
      const { day, month } = await Promise.race([read(key, at), timeout.promise])
      if (this.restsUntil > 0) onRecovery()
      this.restsUntil = 0
      return { day, month, at }
    } catch (thrown) {
      this.restsUntil = now() + RETRY_DELAY_MS
      onFault(thrown)
      return undefined
    } finally {
      clearTimeout(timer)
    }
  }
}
