import type { Engine } from './engine.ts'
import type { Database } from './tables.ts'

/** Time by which the clocks of machines may differ, in milliseconds. A stored time further ahead is of a wrong clock. */
export const CLOCK_DIFFERENCE = 300_000

/**
 * The clock that decides what has expired: this machine's clock, but never more than the clock of the database server.
 * An instance whose clock is ahead must not delete what other instances still use.
 */
export class StoreClock {
  private readonly engine: Engine
  private readonly database: Database
  /** Difference between the server's time and `performance.now()`, which nobody can set. */
  private serverOffset = Number.POSITIVE_INFINITY
  /** Difference between this machine's time and `performance.now()`, at the latest measurement and at the one before. */
  private offset = Number.POSITIVE_INFINITY
  private earlierOffset = Number.POSITIVE_INFINITY

  constructor(engine: Engine, database: Database) {
    this.engine = engine
    this.database = database
  }

  /** Returns the Unix time in milliseconds. */
  readonly now = (): number => Math.min(Date.now(), Math.floor(this.serverOffset + performance.now()))

  /**
   * Returns the time before which expired data may be deleted. A clock that was set forward counts only if it still is
   * at the next measurement, so that a wrong clock that is soon set right deletes nothing.
   */
  readonly deletionTime = (): number =>
    Math.min(this.now(), Math.floor(this.earlierOffset + performance.now()) + CLOCK_DIFFERENCE)

  /** Reads this machine's clock and the server's, if the database has a server. */
  async measure(): Promise<void> {
    const begun = performance.now()
    const time = await this.engine.serverTime(this.database)
    if (time !== undefined) this.serverOffset = time - begun
    this.earlierOffset = this.offset
    this.offset = Date.now() - performance.now()
  }
}
