/** How many kinds of faults are distinguished; others are not logged. */
const MOST = 20

/** Milliseconds after which a kind of fault is logged again. */
const AGAIN = 600_000

/** Logs faults that every request may meet: each kind once in ten minutes, not once a request. */
export class LogOnce {
  private readonly logged = new Map<string, number>()
  private readonly write: (thrown: unknown) => void

  constructor(write: (thrown: unknown) => void) {
    this.write = write
  }

  log(thrown: unknown): void {
    const kind = (thrown as NodeJS.ErrnoException | undefined)?.code ?? String(thrown)
    const now = performance.now()
    const before = this.logged.get(kind)
    if (before === undefined ? this.logged.size >= MOST : now - before < AGAIN) return
    this.logged.set(kind, now)
    this.write(thrown)
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
