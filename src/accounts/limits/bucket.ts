import type { Quota } from '../../canonical/rate-limit.ts'

/** Number of minutes within which any debt is paid off. A larger debt would be a counting mistake. */
const MAX_DEBT_MINUTES = 24 * 60
const MINUTE_MS = 60_000
/** Maximum wait, in milliseconds. A quota of 0 never has room. */
const MAX_WAIT_MS = (MAX_DEBT_MINUTES + 1) * MINUTE_MS

/**
 * A token bucket: a quota per minute that refills steadily. Unused units accumulate up to one minute's quota. The
 * refill pays off debts.
 */
export class Bucket {
  private perMinute: number
  private units: number
  private refilledAt: number

  /** @param now Unix time in milliseconds, as in all methods. */
  constructor(perMinute: number, now: number) {
    this.perMinute = perMinute
    this.units = perMinute
    this.refilledAt = now
  }

  /** Changes the quota. Used units stay used. */
  resize(perMinute: number, now: number): void {
    if (perMinute === this.perMinute) return
    this.refill(now)
    this.units += perMinute - this.perMinute
    this.perMinute = perMinute
  }

  /**
   * Returns the number of milliseconds until `units` are available, or until the bucket is full if `units` exceeds the
   * quota: 0 if they are available now, and at most `MAX_WAIT_MS`.
   */
  wait(now: number, units = 1): number {
    this.refill(now)
    const needed = Math.max(1, Math.min(units, this.perMinute))
    if (this.units >= needed) return 0
    return Math.min(MAX_WAIT_MS, (MINUTE_MS * (needed - this.units)) / this.perMinute)
  }

  /** Takes units, into debt if necessary. A negative number returns units. */
  take(units: number, now: number): void {
    this.refill(now)
    this.units = Math.min(this.perMinute, Math.max(this.units - units, -MAX_DEBT_MINUTES * this.perMinute))
  }

  /** Lowers the level to `units` if it is higher. */
  cap(units: number, now: number): void {
    this.refill(now)
    this.units = Math.min(this.units, units)
  }

  /** Returns the number of available units. A negative number is a debt. */
  level(now: number): number {
    this.refill(now)
    return this.units
  }

  /** Returns true if the bucket is full, like a new one. */
  isFull(now: number): boolean {
    return this.level(now) >= this.perMinute
  }

  private refill(now: number): void {
    this.units = refilled(this.units, this.perMinute, now - this.refilledAt)
    this.refilledAt = now
  }
}

/** Returns the level of a bucket after `elapsed` milliseconds without use. */
export const refilled = (level: number, perMinute: number, elapsed: number): number =>
  Math.min(perMinute, level + (Math.max(0, elapsed) * perMinute) / MINUTE_MS)

/** Returns the remaining quota of a bucket that had `level` units `elapsed` milliseconds ago. */
export function quotaOf(perMinute: number, level: number, elapsed: number): Quota {
  const now = refilled(level, perMinute, elapsed)
  const reset = perMinute === 0 ? 0 : (MINUTE_MS * (perMinute - now)) / perMinute
  return { limit: perMinute, remaining: Math.max(0, Math.floor(now)), reset }
}

/** Returns an earlier level of a limit plus the refill since then. Undefined without a level or a limit. */
export const levelNow = (
  level: number | undefined,
  perMinute: number | undefined,
  elapsed: number,
): number | undefined =>
  level === undefined || perMinute === undefined ? undefined : refilled(level, perMinute, elapsed)

/** Returns the sum of a level and an amount. Undefined without a level. */
export const sumOf = (level: number | undefined, amount: number): number | undefined =>
  level === undefined ? undefined : level + amount
