import type { CanonicalEvent } from '../canonical/event.ts'
import type { Loss } from '../canonical/loss.ts'
import { NOTHING } from '../canonical/transducer.ts'
import type { WireEvent } from '../canonical/wire.ts'
import type { EventWriter, NativeEventWriter } from '../egress/writer.ts'

/** Writes a streamed answer whose errors and events have different formats, as on clouds that host another API. */
export class ForeignErrors<W extends EventWriter> implements EventWriter {
  protected readonly writer: W
  private readonly errors: EventWriter
  private failed = false

  constructor(writer: W, errors: EventWriter) {
    this.writer = writer
    this.errors = errors
  }

  push(event: CanonicalEvent): readonly WireEvent[] {
    if (this.failed) return NOTHING
    if (event.type !== 'error') return this.writer.push(event)
    this.failed = true
    return this.errors.push(event)
  }

  end(): readonly WireEvent[] {
    return this.failed ? NOTHING : this.writer.end()
  }

  get lost(): readonly Loss[] {
    return this.writer.lost ?? NOTHING
  }
}

/** Like `ForeignErrors`, for a stream whose events may be passed on unchanged. */
export class NativeForeignErrors extends ForeignErrors<NativeEventWriter> implements NativeEventWriter {
  relay(wire: WireEvent, read: readonly CanonicalEvent[]): readonly WireEvent[] {
    const error = read.find(({ type }) => type === 'error')
    return error === undefined ? this.writer.relay(wire, read) : this.push(error)
  }
}
