import type { CanonicalEvent } from '../canonical/event.ts'
import type { EventReader } from '../canonical/transducer.ts'
import type { WireEvent } from '../canonical/wire.ts'
import type { ChannelFormat } from '../formats/channel-format.ts'
import { READERS } from '../ingress/index.ts'
import type { Reader } from '../ingress/reader.ts'

/** Returns the reader for an upstream's answers. Clouds that host a format may use different errors and counts. */
export function readerOf({ format, errors }: Pick<ChannelFormat, 'format' | 'errors'>): Reader {
  const reader = READERS[format]!
  if (errors === undefined) return reader
  const foreign = READERS[errors]!
  return {
    ...reader,
    error: answer => foreign.error!(answer),
    result: (answer, request) => (request.output.count === true ? foreign : reader).result!(answer, request),
    events: request => new ForeignErrorReader(reader.events!(request), foreign.events!(request)),
  }
}

/** Reads a streamed answer whose errors and events have different formats. */
class ForeignErrorReader implements EventReader<WireEvent, CanonicalEvent> {
  private readonly reader: EventReader<WireEvent, CanonicalEvent>
  private readonly errors: EventReader<WireEvent, CanonicalEvent>
  private hasBegun = false

  constructor(reader: EventReader<WireEvent, CanonicalEvent>, errors: EventReader<WireEvent, CanonicalEvent>) {
    this.reader = reader
    this.errors = errors
  }

  push(wire: WireEvent): readonly CanonicalEvent[] {
    if (!isForeign(wire)) return this.noteBeginning(this.reader.push(wire))
    const events = this.errors.push(wire)
    return this.hasBegun ? events.filter(({ type }) => type !== 'result-start') : events
  }

  end(): readonly CanonicalEvent[] {
    return this.reader.end()
  }

  get irregular(): boolean {
    return this.reader.irregular === true
  }

  private noteBeginning(events: readonly CanonicalEvent[]): readonly CanonicalEvent[] {
    this.hasBegun ||= events.length > 0
    return events
  }
}

/** Returns true if an event is an exception or a faulty frame. */
const isForeign = ({ event = '', data }: WireEvent): boolean =>
  event.endsWith('Exception') || (event === 'error' && data.startsWith('{"message"'))
