import type { CanonicalEvent } from '../canonical/event.ts'

/** More than any upstream sends before its answer begins; with more, a start is made good. */
const MOST = 64

/**
 * Events of unknown types that come before the start of an answer, which they are put out behind: to make good a start
 * for them would lose the upstream's own.
 */
export class EarlyEvents {
  private events: CanonicalEvent[] | undefined

  /** Whether there was room for the event. */
  hold(event: CanonicalEvent): boolean {
    this.events ??= []
    if (this.events.length === MOST) return false
    this.events.push(event)
    return true
  }

  release(out: CanonicalEvent[]): void {
    if (this.events === undefined) return
    for (const event of this.events) out.push(event)
    this.events = undefined
  }
}
