import type { LimitEngine, LimitState, LimitStep } from './engine.ts'
import { KeyCount } from './key-count.ts'

/** Steps between two looks for keys to forget, besides one for each key. */
const SWEEP = 1024

/** Counts in this process. Keys whose counts equal those of a new key are forgotten. */
export class MemoryEngine implements LimitEngine {
  private readonly counts = new Map<string, KeyCount>()
  private readonly now: () => number
  private steps = 0

  /** @param now Unix time in milliseconds. */
  constructor(now: () => number = Date.now) {
    this.now = now
  }

  step(step: LimitStep, now = this.now()): LimitState {
    if (++this.steps > SWEEP + this.counts.size) this.sweep(now)
    let count = this.counts.get(step.key)
    if (count === undefined) this.counts.set(step.key, (count = new KeyCount()))
    return count.step(step, now)
  }

  leaveAll(owner: string): void {
    for (const count of this.counts.values()) count.leaveAll(owner)
  }

  /** Keys it counts for. */
  get size(): number {
    return this.counts.size
  }

  close(): void {
    this.counts.clear()
  }

  private sweep(now: number): void {
    this.steps = 0
    for (const [key, count] of this.counts) if (count.isInitial(now)) this.counts.delete(key)
  }
}
