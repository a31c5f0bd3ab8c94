import type { Quota } from '../../canonical/rate-limit.ts'

/** Minutes that pay off any debt: a debt of more than a day is a wrong count. */
const LONGEST = 24 * 60

/** A minute's allowance, refilled steadily: unused units are kept up to one minute's worth, debts are paid off. */
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

  /** Changes the allowance; what was used of the old one stays used. */
  resize(perMinute: number, now: number): void {
    if (perMinute === this.perMinute) return
    this.refill(now)
    this.level += perMinute - this.perMinute
    this.perMinute = perMinute
  }

  /**
   * Milliseconds until so many units can be taken, or the full allowance where that is less; 0 when they can be now,
   * Infinity when none ever can.
   */
  wait(now: number, units = 1): number {
    this.refill(now)
    const needed = Math.max(1, Math.min(units, this.perMinute))
    return this.level >= needed ? 0 : this.refillTime(needed)
  }

  /** Whether so many units are available. */
  has(units: number, now: number): boolean {
    this.refill(now)
    return this.level >= units
  }

  /** Takes units, beyond the available ones, too; a negative number gives units back. */
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
