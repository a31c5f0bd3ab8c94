/** Where log lines go; a pino logger is one. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** How many kinds of faults are distinguished; others are not logged. */
const MOST = 20

/** Milliseconds after which a kind of fault is logged again. */
const INTERVAL = 600_000

interface LogOnceOptions {
  /** Milliseconds after which a kind of fault is logged again (default: ten minutes). */
  readonly interval?: number
  /** A fault lasts until `recovered` is called, and is not logged again before. */
  readonly lasting?: true
}

/** Logs faults that every request may meet: each kind once in a while, not once a request. */
export class LogOnce {
  private readonly logged = new Map<string, number>()
  private readonly write: (thrown: unknown, kind: string) => void
  private readonly options: LogOnceOptions
  private recoveredAt = Number.NEGATIVE_INFINITY

  constructor(write: (thrown: unknown, kind: string) => void, options: LogOnceOptions = {}) {
    this.write = write
    this.options = options
  }

  /** @param kind by default the code of an error, else its text. */
  log(thrown: unknown, kind: string = (thrown as NodeJS.ErrnoException | undefined)?.code ?? String(thrown)): void {
    const now = performance.now()
    const before = this.logged.get(kind)
    if (before === undefined ? this.logged.size >= MOST : this.isSilent(before, now)) return
    this.logged.set(kind, now)
    this.write(thrown, kind)
  }

  /** The faults are over. Gives whether any was logged since the last recovery. */
  recovered(): boolean {
    const wasLogged = [...this.logged.values()].some(at => at > this.recoveredAt)
    this.recoveredAt = performance.now()
    return wasLogged
  }

  private isSilent(before: number, now: number): boolean {
    const { interval = INTERVAL, lasting } = this.options
    return now - before < interval || (lasting === true && before > this.recoveredAt)
  }

  /** The result of work that no request depends on; `otherwise`, and a line in the log, where it throws. */
  attempt<T>(work: () => T, otherwise: T): T {
    try {
      return work()
    } catch (thrown) {
      this.log(thrown)
      return otherwise
    }
  }
}
