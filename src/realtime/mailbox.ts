import type { ServerEvent } from '../canonical/session-event.ts'
import type { SessionEnd, UpstreamListener } from './upstream.ts'

/** Keeps what an upstream reports until there is a session for it. */
export class Mailbox implements UpstreamListener {
  private target: UpstreamListener | undefined
  private events: ServerEvent[] = []
  private end: SessionEnd | undefined

  event(event: ServerEvent): void {
    if (this.target === undefined) this.events.push(event)
    else this.target.event(event)
  }

  ended(end: SessionEnd): void {
    if (this.target === undefined) this.end = end
    else this.target.ended(end)
  }

  deliver(target: UpstreamListener): void {
    const { events, end } = this
    this.target = target
    this.events = []
    for (const event of events) target.event(event)
    if (end !== undefined) target.ended(end)
  }
}
