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

  /** Milliseconds until one unit can be taken; 0 when it can be now, Infinity when it never can. */
  wait(now: number): number {
    this.refill(now)
    return this.level >= 1 ? 0 : (60_000 * (1 - this.level)) / this.perMinute
  }

  /** Takes units, also ones that are not there. */
  take(units: number, now: number): void {
    this.refill(now)
    this.level = Math.max(this.level - units, -LONGEST * this.perMinute)
  }

  private refill(now: number): void {
    const elapsed = Math.max(0, now - this.at)
    this.at = now
    this.level = Math.min(this.perMinute, this.level + (elapsed * this.perMinute) / 60_000)
  }
}
