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

  constructor(engine: Engine, database: Database) {
    this.engine = engine
    this.database = database
  }

  /** Returns the Unix time in milliseconds. */
  readonly now = (): number => Math.min(Date.now(), Math.floor(this.serverOffset + performance.now()))

  /** Reads the server's clock, if the database has a server. */
  async measure(): Promise<void> {
    const begun = performance.now()
    const time = await this.engine.serverTime(this.database)
    if (time !== undefined) this.serverOffset = time - begun
  }
}
