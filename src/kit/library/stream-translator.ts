import type { CanonicalEvent } from '../../canonical/event.ts'
import type { Loss } from '../../canonical/loss.ts'
import { ReasoningFilter } from '../../canonical/shown-reasoning.ts'
import { type EventReader, NOTHING, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import type { EventWriter, NativeEventWriter } from '../../egress/writer.ts'
import { type Caller, headOf, reasoningShown, withCompletionTime } from './head.ts'

/** Translates the events of an upstream's stream to the caller's format. Writes nothing after the end or an error. */
export class StreamTranslator implements Transducer<WireEvent, WireEvent> {
  private readonly reader: EventReader<WireEvent, CanonicalEvent>
  private readonly restore: Transducer<CanonicalEvent, CanonicalEvent> | undefined
  private readonly caller: Caller
  private readonly filter: ReasoningFilter | undefined
  /** Passes on events that already have the caller's format, until one of them has to be rewritten. */
  private relay: NativeEventWriter | undefined
  private readonly writer: EventWriter
  private isOver = false

  constructor(
    reader: EventReader<WireEvent, CanonicalEvent>,
    restore: Transducer<CanonicalEvent, CanonicalEvent> | undefined,
    caller: Caller,
  ) {
    this.reader = reader
    this.restore = restore
    this.caller = caller
    const visible = reasoningShown(caller)
    this.filter = visible === 'all' ? undefined : new ReasoningFilter(visible)
    const { codec, request, native } = caller
    this.relay = native && restore === undefined ? codec.writer.nativeEvents?.(request) : undefined
    this.writer = this.relay ?? codec.writer.events!(request)
  }

  /** Losses of the answer so far. */
  get losses(): readonly Loss[] {
    return this.writer.lost ?? NOTHING
  }

  push(wire: WireEvent): readonly WireEvent[] {
    if (this.isOver) return NOTHING
    const events = this.reader.push(wire)
    if (this.reader.irregular === true) this.relay = undefined
    return this.relay === undefined ? this.writeEvents(events) : this.relayEvents(this.relay, wire, events)
  }

  end(): readonly WireEvent[] {
    return this.isOver ? NOTHING : [...this.writeEvents(this.reader.end()), ...this.close()]
  }

  private relayEvents(
    relay: NativeEventWriter,
    wire: WireEvent,
    events: readonly CanonicalEvent[],
  ): readonly WireEvent[] {
    const out = relay.relay(
      wire,
      events.map(event => this.completed(event)),
    )
    return events.some(isLast) ? [...out, ...this.close()] : out
  }

  private writeEvents(events: readonly CanonicalEvent[]): readonly WireEvent[] {
    return events
      .flatMap(event => this.restore?.push(event) ?? [event])
      .flatMap(event => (this.isOver ? NOTHING : this.one(event)))
  }

  private one(event: CanonicalEvent): readonly WireEvent[] {
    const completed = this.completed(event)
    const visible = this.filter === undefined ? completed : this.filter.pass(completed)
    const out = visible === undefined ? NOTHING : this.writer.push(visible)
    return isLast(event) ? [...out, ...this.close()] : out
  }

  private completed(event: CanonicalEvent): CanonicalEvent {
    if (event.type === 'result-start') return headOf(event, this.caller)
    return event.type === 'result-end' ? withCompletionTime(event, this.caller.codec) : event
  }

  private close(): readonly WireEvent[] {
    if (this.isOver) return NOTHING
    this.isOver = true
    return this.writer.end()
  }
}

const isLast = ({ type }: CanonicalEvent): boolean => type === 'result-end' || type === 'error'
