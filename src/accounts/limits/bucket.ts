import type { Quota } from '../../canonical/rate-limit.ts'

/** Minutes that pay off any debt: a debt of more than a day is a wrong count. */
const LONGEST_DEBT = 24 * 60
const MINUTE = 60_000
/** The longest wait, in milliseconds: an allowance of 0 never has room. */
const LONGEST_WAIT = (LONGEST_DEBT + 1) * MINUTE

/** A minute's allowance, refilled steadily: unused units are kept up to one minute's worth, debts are paid off. */
export class Bucket {
  private perMinute: number
  private units: number
  private at: number

  /** @param now Unix time in milliseconds, as everywhere here. */
  constructor(perMinute: number, now: number) {
    this.perMinute = perMinute
    this.units = perMinute
    this.at = now
  }

  /** Changes the allowance; what was used of the old one stays used. */
  resize(perMinute: number, now: number): void {
    if (perMinute === this.perMinute) return
    this.refill(now)
    this.units += perMinute - this.perMinute
    this.perMinute = perMinute
  }

  /**
   * Milliseconds until so many units can be taken, or the full allowance where that is less; 0 when they can be now, at
   * most `LONGEST_WAIT`.
   */
  wait(now: number, units = 1): number {
    this.refill(now)
    const needed = Math.max(1, Math.min(units, this.perMinute))
    if (this.units >= needed) return 0
    return Math.min(LONGEST_WAIT, (MINUTE * (needed - this.units)) / this.perMinute)
  }

  /** Takes units, beyond the available ones, too; a negative number gives units back. */
  take(units: number, now: number): void {
    this.refill(now)
    this.units = Math.min(this.perMinute, Math.max(this.units - units, -LONGEST_DEBT * this.perMinute))
  }

  /** Lowers the level to so many units, where it is higher. */
  cap(units: number, now: number): void {
    this.refill(now)
    this.units = Math.min(this.units, units)
  }

  /** The units there are; negative ones are a debt. */
  level(now: number): number {
    this.refill(now)
    return this.units
  }

  /** Whether nothing is missing, as in a new one. */
  isFull(now: number): boolean {
    return this.level(now) >= this.perMinute
  }

  private refill(now: number): void {
    this.units = refilled(this.units, this.perMinute, now - this.at)
    this.at = now
  }
}

/** What an allowance of that level holds so many milliseconds later, if nothing is used. */
export const refilled = (level: number, perMinute: number, elapsed: number): number =>
  Math.min(perMinute, level + (Math.max(0, elapsed) * perMinute) / MINUTE)

/** What is left of an allowance that had a level so many milliseconds ago. */
export function quotaOf(perMinute: number, level: number, elapsed: number): Quota {
  const now = refilled(level, perMinute, elapsed)
  const reset = perMinute === 0 ? 0 : (MINUTE * (perMinute - now)) / perMinute
  return { limit: perMinute, remaining: Math.max(0, Math.floor(now)), reset }
}
