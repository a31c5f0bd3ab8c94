import { setImmediate } from 'node:timers/promises'

/** Milliseconds of work after which others have their turn. */
const SLICE = 8

/** Keeps long work from holding up the event loop, and ends it after a time. */
export class Pace {
  private readonly until: number
  private began = performance.now()

  /** @param limit milliseconds for all of the work. */
  constructor(limit: number) {
    this.until = this.began + limit
  }

  /** The time is over. */
  get over(): boolean {
    return performance.now() >= this.until
  }

  /** To be called between two steps of the work: others have their turn where it is due. */
  async step(): Promise<void> {
    if (performance.now() - this.began < SLICE) return
    await setImmediate()
    this.began = performance.now()
  }
}
