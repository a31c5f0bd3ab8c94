import type { Quota } from '../canonical/rate-limit.ts'

/** Minutes that pay off any debt: one beyond a day is no debt but a fault of whoever counted. */
const LONGEST = 24 * 60

/** A minute's allowance, refilled steadily: what is not used is kept up to one minute's worth, debts are paid off. */
export class Bucket {
  private perMinute: number
  private level: number
  private at: number

  /** @param now Unix time in milliseconds, as everywhere here. */
  constructor(perMinute: number, now: number) {
    this.perMinute = perMinute
    this.level = perMinute
    this.at = now
  }

  /** Another allowance; what was used of the old one stays used. */
  resize(perMinute: number, now: number): void {
    if (perMinute === this.perMinute) return
    this.refill(now)
    this.level += perMinute - this.perMinute
    this.perMinute = perMinute
  }

  /**
   * Milliseconds until so many units can be taken, or all there can ever be where that is less; 0 when they can be now,
   * Infinity when none ever can.
   */
  wait(now: number, units = 1): number {
    this.refill(now)
    const needed = Math.max(1, Math.min(units, this.perMinute))
    return this.level >= needed ? 0 : this.refillTime(needed)
  }

  /** Whether so many units are there. */
  has(units: number, now: number): boolean {
    this.refill(now)
    return this.level >= units
  }

  /** Takes units, also ones that are not there; gives them back where there are fewer than none. */
  take(units: number, now: number): void {
    this.refill(now)
    this.level = Math.min(this.perMinute, Math.max(this.level - units, -LONGEST * this.perMinute))
  }

  quota(now: number): Quota {
    this.refill(now)
    const { level, perMinute } = this
    const reset = perMinute === 0 ? 0 : this.refillTime(perMinute)
    return { limit: perMinute, remaining: Math.max(0, Math.floor(level)), reset }
  }

  /** Milliseconds until the level is reached. */
  private refillTime(level: number): number {
    return (60_000 * (level - this.level)) / this.perMinute
  }

  private refill(now: number): void {
    const elapsed = Math.max(0, now - this.at)
    this.at = now
    this.level = Math.min(this.perMinute, this.level + (elapsed * this.perMinute) / 60_000)
  }
}
