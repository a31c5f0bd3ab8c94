import type { CanonicalEvent } from '../canonical/event.ts'

/**
 * Maximum number of buffered events, above the number that any upstream sends before the start. If it is exceeded, the
 * reader emits a start itself.
 */
const MAX_EVENTS = 64

/**
 * Buffers events of unknown types that arrive before the start of an answer, and emits them after the start. If the
 * reader emitted a substitute start for them, the upstream's real one would be lost.
 */
export class EarlyEvents {
  private events: CanonicalEvent[] | undefined

  /**
   * Buffers the event.
   * @returns false if the buffer is full.
   */
  add(event: CanonicalEvent): boolean {
    this.events ??= []
    if (this.events.length === MAX_EVENTS) return false
    this.events.push(event)
    return true
  }

  /** Moves all buffered events to `out`. */
  release(out: CanonicalEvent[]): void {
    if (this.events === undefined) return
    for (const event of this.events) out.push(event)
    this.events = undefined
  }
}
