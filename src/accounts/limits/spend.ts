const DAY_MS = 86_400_000

/** A budget period in UTC. */
export interface Period {
  /** Returns the number of the period that contains a time in Unix milliseconds. */
  at(now: number): number
  /** Returns the milliseconds until the period ends. */
  remaining(now: number): number
}

/** UTC days. */
export const DAYS: Period = {
  at: now => Math.floor(now / DAY_MS),
  remaining: now => DAY_MS - (now % DAY_MS),
}

/** Cache of the latest day and its month. Computing dates is expensive. */
const latest = { day: Number.NaN, month: 0 }

/** UTC months. */
export const MONTHS: Period = {
  at(now) {
    const day = DAYS.at(now)
    if (day !== latest.day) {
      const date = new Date(now)
      latest.day = day
      latest.month = date.getUTCFullYear() * 12 + date.getUTCMonth()
    }
    return latest.month
  },
  remaining(now) {
    const date = new Date(now)
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) - now
  },
}

/** Nanodollars spent in one period. */
interface Amount {
  /** Number of the period. */
  readonly number: number
  amount: number
}

/**
 * Nanodollars that a key spent in the current period. Also remembers the previous period, so that no spend is lost or
 * carried over if the clock is set back and forth across the boundary.
 */
export class Spend {
  private readonly period: Period
  private now: Amount
  private previous: Amount | undefined

  constructor(period: Period, now: number, amount: number) {
    this.period = period
    this.now = { number: period.at(now), amount }
  }

  /** Returns the number of milliseconds until `cost` fits into the budget, or 0 if it fits now. */
  wait(now: number, cost: number, limit: number): number {
    const amount = this.current(now)
    return amount < limit && amount + cost <= limit ? 0 : this.period.remaining(now)
  }

  /**
   * Adds a cost to the period of a time, unless that period is neither the current nor the previous one. A negative
   * cost is a refund.
   */
  add(at: number, cost: number): void {
    const number = this.period.at(at)
    const spent = this.now.number === number ? this.now : this.previous?.number === number ? this.previous : undefined
    if (spent !== undefined) spent.amount = Math.max(0, spent.amount + cost)
  }

  /**
   * Returns true if the spend in the period of a time is known. It is unknown if the clock was set back to a period
   * that was never seen.
   */
  isKnown(now: number): boolean {
    const number = this.period.at(now)
    return number >= this.now.number || number === this.previous?.number
  }

  /**
   * Returns true if nothing was spent in the period of a time or later. Later periods exist if the clock was set back.
   */
  isIdle(now: number): boolean {
    const number = this.period.at(now)
    const { now: latest, previous } = this
    return isIdle(latest, number) && (previous === undefined || isIdle(previous, number))
  }

  /** Returns the spend in the current period, or 0 for a period that was never seen. */
  current(now: number): number {
    if (this.period.at(now) !== this.now.number) this.begin(now, 0)
    return this.now.amount
  }

  /** Raises the spend in the period of a time to `amount` if it is lower. */
  raise(now: number, amount: number): void {
    const current = this.current(now)
    this.now.amount = Math.max(current, amount)
  }

  /** Switches to the period of a time, with `amount` as its spend unless that period is remembered. */
  begin(now: number, amount: number): void {
    const number = this.period.at(now)
    const { previous } = this
    this.previous = this.now
    this.now = previous?.number === number ? previous : { number, amount }
  }
}

/** Returns true if the period is over or nothing was spent in it. */
const isIdle = ({ number, amount }: Amount, current: number): boolean => number < current || amount === 0
