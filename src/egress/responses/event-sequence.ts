import type { JsonObject } from '../../canonical/node.ts'
import type { WireEvent } from '../../canonical/wire.ts'

/** Numbers the events of one stream from 0 (trap 69). */
export class EventSequence {
  private sequence = 0
  private out: WireEvent[] = []

  emit(type: string, fields: JsonObject): void {
    this.line(type, `${JSON.stringify({ type, ...fields }).slice(0, -1)},"sequence_number":`)
  }

  /** Writes an event's text up to its number: deltas, the bulk of a stream, cost no object. */
  line(type: string, text: string): void {
    this.out.push({ event: type, data: `${text}${this.sequence++}}` })
  }

  /** The events since the last call. */
  take(): readonly WireEvent[] {
    const { out } = this
    this.out = []
    return out
  }
}
