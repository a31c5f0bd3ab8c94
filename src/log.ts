/** A structured logger, for example pino. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** A log that writes nothing. */
export const SILENT: Log = { info() {}, warn() {}, error() {} }

/** Maximum number of fault kinds that one `LogOnce` tracks. Further kinds are not logged. */
const MAX_KINDS = 20

/** Default interval between two log lines for one kind of fault, in milliseconds. */
const DEFAULT_INTERVAL = 600_000

interface LogOnceOptions {
  /** Minimum time between two log lines for one kind of fault, in milliseconds. Ten minutes by default. */
  readonly interval?: number
  /** Logs a kind of fault again only after `recovered` was called. */
  readonly untilRecovered?: true
}

/** Rate-limits log lines for faults that may affect every request: one line per kind of fault and interval. */
export class LogOnce {
  private readonly lastLogged = new Map<string, number>()
  private readonly write: (thrown: unknown, kind: string) => void
  private readonly options: LogOnceOptions
  private recoveredAt = Number.NEGATIVE_INFINITY

  constructor(write: (thrown: unknown, kind: string) => void, options: LogOnceOptions = {}) {
    this.write = write
    this.options = options
  }

  /**
   * Logs a fault, unless its kind was logged recently.
   *
   * @param kind identifies the kind of fault. Default: the error's code, or else its text.
   */
  log(thrown: unknown, kind: string = (thrown as NodeJS.ErrnoException | undefined)?.code ?? String(thrown)): void {
    const now = performance.now()
    const lastAt = this.lastLogged.get(kind)
    if (lastAt === undefined ? this.lastLogged.size >= MAX_KINDS : this.isSilent(lastAt, now)) return
    this.lastLogged.set(kind, now)
    this.write(thrown, kind)
  }

  /** Marks the faults as over. Returns whether any was logged since the last recovery. */
  recovered(): boolean {
    const wasLogged = [...this.lastLogged.values()].some(at => at > this.recoveredAt)
    this.recoveredAt = performance.now()
    return wasLogged
  }

  private isSilent(lastAt: number, now: number): boolean {
    const { interval = DEFAULT_INTERVAL, untilRecovered } = this.options
    return now - lastAt < interval || (untilRecovered === true && lastAt > this.recoveredAt)
  }

  /** Runs work that no request depends on. If the work throws, logs the fault and returns `fallback`. */
  attempt<T>(work: () => T, fallback: T): T {
    try {
      return work()
    } catch (thrown) {
      this.log(thrown)
      return fallback
    }
  }
}
