import { setImmediate } from 'node:timers/promises'

/** Maximum duration of work before the event loop gets a turn, in milliseconds. */
const MAX_SLICE_MS = 8

/** Splits long work so that it does not block the event loop, and limits its time. */
export class Pace {
  private readonly until: number
  private turnStartedAt = performance.now()

  /** @param limit time limit for all of the work, in milliseconds. */
  constructor(limit: number) {
    this.until = this.turnStartedAt + limit
  }

  /** True if the time limit has passed. */
  get isOver(): boolean {
    return performance.now() >= this.until
  }

  /** Yields to the event loop if a turn is due. Must be called between the steps of the work. */
  async step(): Promise<void> {
    if (performance.now() - this.turnStartedAt < MAX_SLICE_MS) return
    await setImmediate()
    this.turnStartedAt = performance.now()
  }
}
