import type { Log } from './log.ts'

interface OutageTexts {
  readonly began: string
  readonly ended: string
}

/**
 * Logs the start and the end of an outage, one line each. The second line states the duration and the number of
 * affected operations.
 */
export class Outage {
  private readonly log: Log
  private readonly texts: OutageTexts
  private readonly interval: number
  private since: number | undefined
  private loggedAt = Number.NEGATIVE_INFINITY
  private isLogged = false
  private affected = 0

  /**
   * @param interval minimum time between two logged outages, in milliseconds. Without it a flapping connection would
   * fill the log.
   */
  constructor(log: Log, texts: OutageTexts, interval = 0) {
    this.log = log
    this.texts = texts
    this.interval = interval
  }

  get isActive(): boolean {
    return this.since !== undefined
  }

  /**
   * Logs the start of an outage; does nothing during one.
   *
   * @param thrown the cause; the first line of its text is logged.
   */
  start(thrown: unknown, fields: object = {}): void {
    if (this.isActive) return
    const now = performance.now()
    this.since = now
    this.affected = 0
    this.isLogged = now - this.loggedAt >= this.interval
    if (!this.isLogged) return
    this.loggedAt = now
    this.log.warn({ ...fields, fault: describeCause(thrown) }, this.texts.began)
  }

  /** Counts an operation that failed because of the outage. */
  countAffected(): void {
    this.affected++
  }

  end(): void {
    if (this.since === undefined) return
    const seconds = Math.round((performance.now() - this.since) / 100) / 10
    this.since = undefined
    if (this.isLogged) this.log.info({ seconds, affected: this.affected }, this.texts.ended)
  }
}

/**
 * Returns a one-line description of an error. Describes the first error of an AggregateError (one error per address
 * tried), which has no message itself.
 */
function describeCause(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const [first] = thrown instanceof AggregateError ? (thrown.errors as unknown[]) : []
  const { code } = thrown as { readonly code?: unknown }
  const text = thrown.message || (first instanceof Error ? first.message : '') || String(code ?? thrown.name)
  return text.split('\n', 1)[0]!
}
