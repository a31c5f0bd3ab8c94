/** Kinds of faults that are told apart; beyond them nothing is told. */
const MOST = 20

/** Milliseconds after which a kind of fault is told again. */
const AGAIN = 600_000

/** Tells faults that every request may meet: each kind once in a while, not once a request. */
export class LogOnce {
  private readonly told = new Map<string, number>()
  private readonly tell: (thrown: unknown) => void

  constructor(tell: (thrown: unknown) => void) {
    this.tell = tell
  }

  say(thrown: unknown): void {
    const kind = (thrown as NodeJS.ErrnoException | undefined)?.code ?? String(thrown)
    const now = performance.now()
    const before = this.told.get(kind)
    if (before === undefined ? this.told.size >= MOST : now - before < AGAIN) return
    this.told.set(kind, now)
    this.tell(thrown)
  }

  /** Does what a request can go without: `otherwise` where it fails. */
  attempt<T>(work: () => T, otherwise: T): T {
    try {
      return work()
    } catch (thrown) {
      this.say(thrown)
      return otherwise
    }
  }
}
