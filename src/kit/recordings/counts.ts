/** Maximum number of keys of a count. A server that runs for months would otherwise use up its memory. */
const MAX_KEYS = 100_000

/** Counts by key. Forgets the keys that were counted the longest time ago. */
export class Counts {
  private readonly counts = new Map<string, number>()

  /** Returns how often a key was counted before, and counts it. */
  next(key: string): number {
    const count = this.counts.get(key) ?? 0
    this.counts.delete(key)
    this.counts.set(key, count + 1)
    if (this.counts.size > MAX_KEYS) this.counts.delete(this.counts.keys().next().value!)
    return count
  }
}
