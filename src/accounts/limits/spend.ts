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

/** What was spent in a period of that number. */
interface Amount {
  readonly number: number
  amount: number
}

/**
 * Nanodollars a key has spent in the period that runs. The one that ran before is remembered: a clock that is set over its
 * border, and back, takes nothing along and forgets nothing.
 */
export class Spend {
  private readonly period: Period
  private now: Amount
  private before: Amount | undefined

  constructor(period: Period, now: number, amount: number) {
    this.period = period
    this.now = { number: period.at(now), amount }
  }

  /** Milliseconds until so much more can be spent; 0 when it can be now. */
  wait(now: number, cost: number, limit: number): number {
    const amount = this.current(now)
    return amount < limit && amount + cost <= limit ? 0 : this.period.left(now)
  }

  /** Adds what was spent, or with a negative number takes it back, unless that was reserved in an earlier period. */
  add(now: number, cost: number, reservedAt = now): void {
    const amount = this.current(now)
    if (this.period.at(reservedAt) >= this.now.number) this.now.amount = Math.max(0, amount + cost)
  }

  /** Whether it is known what was spent in the period of a time: not where the clock was set back to one never seen. */
  isKnown(now: number): boolean {
    const number = this.period.at(now)
    return number >= this.now.number || number === this.before?.number
  }

  /** Whether nothing was spent in the period of a time, nor in a later one: the clock may have been set back. */
  isIdle(now: number): boolean {
    const number = this.period.at(now)
    const { now: latest, before } = this
    return isIdle(latest, number) && (before === undefined || isIdle(before, number))
  }

  /** What was spent in the period that runs now; nothing in one that was never seen. */
  current(now: number): number {
    if (this.period.at(now) !== this.now.number) this.begin(now, 0)
    return this.now.amount
  }

  /** Goes on in the period of a time, of which is known what was spent unless it is remembered here. */
  begin(now: number, amount: number): void {
    const number = this.period.at(now)
    const { before } = this
    this.before = this.now
    this.now = before?.number === number ? before : { number, amount }
  }
}

const isIdle = ({ number, amount }: Amount, current: number): boolean => number < current || amount === 0
