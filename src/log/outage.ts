import type { Log } from './index.ts'

/** Logs that something cannot be reached, once, and that it can be again: with how long it lasted and what it affected. */
export class Outage {
  private readonly log: Log
  private readonly texts: { readonly began: string; readonly ended: string }
  private readonly fields: object
  private since: number | undefined
  private affected = 0

  /** @param fields what both lines have. */
  constructor(log: Log, texts: { readonly began: string; readonly ended: string }, fields: object = {}) {
    this.log = log
    this.texts = texts
    this.fields = fields
  }

  get lasts(): boolean {
    return this.since !== undefined
  }

  /** @param thrown the cause, of which the text is logged; nothing where the outage lasts already. */
  began(thrown: unknown): void {
    if (this.lasts) return
    this.since = performance.now()
    this.affected = 0
    this.log.warn({ ...this.fields, fault: causeOf(thrown) }, this.texts.began)
  }

  /** An operation failed because of it. */
  affects(): void {
    this.affected++
  }

  ended(): void {
    if (this.since === undefined) return
    const seconds = Math.round((performance.now() - this.since) / 100) / 10
    this.since = undefined
    this.log.info({ ...this.fields, seconds, affected: this.affected }, this.texts.ended)
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
