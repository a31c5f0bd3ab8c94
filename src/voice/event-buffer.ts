import type { ServerEvent } from '../canonical/voice-session-event.ts'
import type { SessionEnd, UpstreamListener } from './upstream.ts'

/** Buffers an upstream's events until the session can receive them. */
export class EventBuffer implements UpstreamListener {
  private listener: UpstreamListener | undefined
  private events: ServerEvent[] = []
  private end: SessionEnd | undefined

  event(event: ServerEvent): void {
    if (this.listener === undefined) this.events.push(event)
    else this.listener.event(event)
  }

  onDrain(): void {
    this.listener?.onDrain()
  }

  ended(end: SessionEnd): void {
    if (this.listener === undefined) this.end = end
    else this.listener.ended(end)
  }

  /** Drops the buffered events of a type. */
  skip(type: ServerEvent['type']): void {
    this.events = this.events.filter(event => event.type !== type)
  }

  deliver(listener: UpstreamListener): void {
    const { events, end } = this
    this.listener = listener
    this.events = []
    for (const event of events) listener.event(event)
    if (end !== undefined) listener.ended(end)
  }
}
