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
  /**
   * Difference between this machine's time and `performance.now()` when the server's clock was read. Infinite if the
   * database has no server.
   */
  private measuredOffset = Number.POSITIVE_INFINITY
  /** True while the server's clock is read again. */
  private isMeasuring = false
  /** Time up to which earlier processes deleted expired data. Infinite if the database has a server. */
  private deletedUntil = Number.POSITIVE_INFINITY

  constructor(engine: Engine, database: Database) {
    this.engine = engine
    this.database = database
  }

  /** Returns the Unix time in milliseconds. */
  readonly now = (): number => {
    const [time, monotonic] = [Date.now(), performance.now()]
    if (time - monotonic > this.measuredOffset + CLOCK_DIFFERENCE) this.measureAgain()
    return Math.min(time, Math.floor(this.serverOffset + monotonic))
  }

  /**
   * Returns the time before which expired data may be deleted. A clock that was set forward counts only if it still is
   * at the next measurement, so that a wrong clock that is soon set right deletes nothing. Until there are two
   * measurements, nothing is deleted beyond what earlier processes deleted, because a machine may start with a wrong
   * clock.
   */
  readonly deletionTime = (): number => Math.min(this.now(), this.earlierTime + CLOCK_DIFFERENCE)

  /** Time by the clock of the measurement before the latest, or else by that of earlier processes. */
  private get earlierTime(): number {
    const { earlierOffset } = this
    return earlierOffset === Number.POSITIVE_INFINITY
      ? this.deletedUntil
      : Math.floor(earlierOffset + performance.now())
  }

  /** Reads the clock of the database server, or up to which time earlier processes deleted expired data. */
  async open(): Promise<void> {
    if (!(await this.measureServer())) this.deletedUntil = await deletedUntil(this.database)
  }

  /** Reads this machine's clock and the server's, if the database has a server. */
  async measure(): Promise<void> {
    await this.measureServer()
    this.earlierOffset = this.offset
    this.offset = Date.now() - performance.now()
  }

  /** Records, for the next process, up to which time expired data was deleted. */
  async record(time: number): Promise<void> {
    if (this.deletedUntil === Number.POSITIVE_INFINITY || this.earlierOffset === Number.POSITIVE_INFINITY) return
    await this.database
      .insertInto('usage_sweeps')
      .values({ name: DELETED, until: time })
      .onConflict(conflict => conflict.column('name').doUpdateSet({ until: time }))
      .execute()
  }

  /**
   * Reads the server's clock again after this machine's clock has moved forward. The machine may have been suspended, and
   * `performance.now()` stands still meanwhile.
   */
  private measureAgain(): void {
    if (this.isMeasuring) return
    this.isMeasuring = true
    this.measureServer()
      // The next call of `now` measures again.
      .catch(() => {})
      .finally(() => {
        this.isMeasuring = false
      })
  }

  private async measureServer(): Promise<boolean> {
    const begun = performance.now()
    const time = await this.engine.serverTime(this.database)
    if (time === undefined) return false
    this.serverOffset = time - begun
    this.measuredOffset = Date.now() - performance.now()
    return true
  }
}

/** Name of the row with the time up to which expired data was deleted. */
const DELETED = 'deleted'

/**
 * Returns the time up to which expired data was deleted. Files of earlier versions have only the lease of the process
 * that deleted usage rows last.
 */
async function deletedUntil(database: Database): Promise<number> {
  const rows = await database.selectFrom('usage_sweeps').selectAll().execute()
  const row = rows.find(({ name }) => name === DELETED) ?? rows[0]
  return Number(row?.until ?? 0)
}
