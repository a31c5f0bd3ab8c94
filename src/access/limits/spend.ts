const DAY = 86_400_000

/** A period of budgets, in UTC. */
export interface Period {
  /** Its number at a time, Unix milliseconds. */
  at(now: number): number
  /** Milliseconds until it ends. */
  left(now: number): number
}

export const DAYS: Period = {
  at: now => Math.floor(now / DAY),
  left: now => DAY - (now % DAY),
}

/** The day that was asked for last, and its month: dates cost much more than counts. */
const latest = { day: Number.NaN, month: 0 }

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
  left(now) {
    const date = new Date(now)
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) - now
  },
}

/** Nanodollars a key has spent in the period that runs. */
export class Spend {
  private readonly period: Period
  private number: number
  private amount: number

  constructor(period: Period, now: number, amount: number) {
    this.period = period
    this.number = period.at(now)
    this.amount = amount
  }

  /** Milliseconds until so much more can be spent; 0 when it can be now. */
  wait(now: number, cost: number, limit: number): number {
    const amount = this.current(now)
    return amount < limit && amount + cost <= limit ? 0 : this.period.left(now)
  }

  /** Adds what was spent, or with a negative number takes it back, unless that was reserved in an earlier period. */
  add(now: number, cost: number, reservedAt = now): void {
    const amount = this.current(now)
    if (this.period.at(reservedAt) >= this.number) this.amount = Math.max(0, amount + cost)
  }

  /** Whether the clock was set back to an earlier period, of which nothing is known here. */
  isAhead(now: number): boolean {
    return this.period.at(now) < this.number
  }

  /** What was spent in the period that runs now. */
  current(now: number): number {
    const number = this.period.at(now)
    if (number > this.number) {
      this.number = number
      this.amount = 0
    }
    return this.amount
  }
}
