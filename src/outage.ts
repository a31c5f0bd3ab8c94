import type { Log } from './log.ts'

interface OutageTexts {
  readonly began: string
  readonly ended: string
}

/** Logs that something cannot be reached, once, and that it can be again: with how long it lasted and what it affected. */
export class Outage {
  private readonly log: Log
  private readonly texts: OutageTexts
  private readonly interval: number
  private since: number | undefined
  private loggedAt = Number.NEGATIVE_INFINITY
  private isLogged = false
  private affected = 0

  /** @param interval milliseconds within which a further outage is not logged: one that comes and goes. */
  constructor(log: Log, texts: OutageTexts, interval = 0) {
    this.log = log
    this.texts = texts
    this.interval = interval
  }

  get lasts(): boolean {
    return this.since !== undefined
  }

  /** @param thrown the cause, of which the text is logged; nothing where the outage lasts already. */
  began(thrown: unknown, fields: object = {}): void {
    if (this.lasts) return
    const now = performance.now()
    this.since = now
    this.affected = 0
    this.isLogged = now - this.loggedAt >= this.interval
    if (!this.isLogged) return
    this.loggedAt = now
    this.log.warn({ ...fields, fault: causeOf(thrown) }, this.texts.began)
  }

  /** An operation failed because of it. */
  affects(): void {
    this.affected++
  }

  ended(): void {
    if (this.since === undefined) return
    const seconds = Math.round((performance.now() - this.since) / 100) / 10
    this.since = undefined
    if (this.isLogged) this.log.info({ seconds, affected: this.affected }, this.texts.ended)
  }
}

/** What went wrong, in one line. An error that stands for several, one for each address, has no text of its own. */
export function causeOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const [first] = thrown instanceof AggregateError ? (thrown.errors as unknown[]) : []
  const { code } = thrown as { readonly code?: unknown }
  const text = thrown.message || (first instanceof Error ? first.message : '') || String(code ?? thrown.name)
  return text.split('\n', 1)[0]!
}
