import { decodeBase64, encodeBase64 } from '../../canonical/base64.ts'
import type { CanonicalEvent, PartDelta, ResultStart } from '../../canonical/event.ts'
import { isObject, type JsonObject, parseObject, stringIn } from '../../canonical/node.ts'
import { Sequential } from '../../canonical/sequential.ts'
import { NOTHING } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import type { NativeEventWriter } from '../writer.ts'
import { DONE, type InteractionStream } from './events.ts'
import type { StepSink } from './step-events.ts'

/**
 * Relays the events of an upstream of this format. Changes only the id and the name of the model or agent. The format's
 * writer follows the stream, so that it can take over and write later events.
 */
export class RelayedInteraction extends Sequential<WireEvent> implements NativeEventWriter {
  private start: ResultStart | undefined
  /** Events that arrived before the `result-start` event, which contains the id. */
  private earlyEvents: WireEvent[] = []
  private readonly sink: StepSink
  /** Index of the step opened by relayed events. */
  private openStep: number | undefined
  /** Number of relayed audio bytes that the reader still buffers, because they do not fill a base64 group. */
  private bufferedBytes = 0

  constructor(stream: InteractionStream) {
    super(stream)
    this.sink = stream.sink
  }

  relay(upstreamEvent: WireEvent, read: readonly CanonicalEvent[]): readonly WireEvent[] {
    // The end-of-stream marker was already written with the end of the answer.
    if (upstreamEvent.data === DONE.data) return NOTHING
    const wire = upstreamEvent.event === undefined ? withType(upstreamEvent) : upstreamEvent
    const { events } = this.sink
    if (wire.event === 'step.start') this.openStep = indexOf(wire) ?? this.sink.steps
    else if (isAudio(wire)) this.bufferedBytes += bytesOfAudio(wire, read)
    if (this.openStep !== undefined) this.sink.steps = this.openStep
    let hasEnded = false
    for (const event of read) {
      if (event.type === 'result-start') this.start = event
      hasEnded ||= event.type === 'result-end'
      super.push(event)
    }
    if (this.openStep !== undefined) this.sink.steps = this.openStep + 1
    if (wire.event === 'step.stop') {
      this.openStep = undefined
      this.bufferedBytes = 0
    }
    this.sink.events = events + 1
    if (this.start === undefined) {
      this.earlyEvents.push(wire)
      return NOTHING
    }
    const out = [...this.earlyEvents, wire].map(one => withHead(one, this.start!))
    this.earlyEvents = []
    // The gateway stops reading at the end of the answer, so the upstream's end-of-stream marker may never arrive.
    return hasEnded ? [...out, DONE] : out
  }

  /** Writes an event that is not relayed. First ends a relayed step whose parts have all ended. */
  override push(event: CanonicalEvent): readonly WireEvent[] {
    if (event.type === 'part-delta' && this.bufferedBytes > 0) return super.push(this.withoutRelayedBytes(event))
    const { openStep, sink } = this
    if (openStep === undefined || !PART_ENDING_TYPES.has(event.type)) return super.push(event)
    this.openStep = undefined
    if (sink.open === openStep) return super.push(event)
    sink.open = openStep
    sink.stop()
    return super.push(event)
  }

  /** Returns a delta without the bytes that were already relayed. */
  private withoutRelayedBytes(event: PartDelta): PartDelta {
    const relayed = this.bufferedBytes
    this.bufferedBytes = 0
    return { ...event, append: encodeBase64(decodeBase64(event.append).subarray(relayed)) }
  }
}

/** Events that imply the end of the preceding part. */
const PART_ENDING_TYPES: ReadonlySet<CanonicalEvent['type']> = new Set(['part-start', 'candidate-end', 'result-end'])

/** Names an event after the type in its data, because some upstreams omit the event name. */
function withType(wire: WireEvent): WireEvent {
  const type = parseObject(wire.data)?.['event_type']
  return typeof type === 'string' ? { ...wire, event: type } : wire
}

const isAudio = ({ event, data }: WireEvent): boolean => event === 'step.delta' && data.includes('"audio"')

/** Returns the number of audio bytes in a delta that the reader has not emitted yet. */
function bytesOfAudio({ data }: WireEvent, read: readonly CanonicalEvent[]): number {
  const delta = parseObject(data)?.['delta']
  if (!isObject(delta) || delta['type'] !== 'audio') return 0
  const chunks = read.map(event => (event.type === 'part-delta' ? bytesIn(event.append) : 0))
  return chunks.reduce((rest, bytes) => rest - bytes, bytesIn(stringIn(delta['data'])))
}

const bytesIn = (base64: string): number => decodeBase64(base64).length

function indexOf({ data }: WireEvent): number | undefined {
  const index = parseObject(data)?.['index']
  return typeof index === 'number' ? index : undefined
}

/** Returns an event with the public id and name. Step events have neither. */
function withHead(wire: WireEvent, { id, model }: ResultStart): WireEvent {
  if (wire.event?.startsWith('step.') === true) return wire
  const event = parseObject(wire.data)
  if (event === undefined) return wire
  const eventWithName = withName(event, id, model)
  return eventWithName === event ? wire : { ...wire, data: JSON.stringify(eventWithName) }
}

function withName(event: JsonObject, id: string | undefined, model: string | undefined): JsonObject {
  const { interaction, interaction_id: originalId } = event
  if (originalId !== undefined) return id === undefined || originalId === id ? event : { ...event, interaction_id: id }
  if (!isObject(interaction)) return event
  const field = interaction['agent'] === undefined ? 'model' : 'agent'
  const isSame = (name: string, value: string | undefined) => value === undefined || interaction[name] === value
  if (isSame('id', id) && (isSame(field, model) || interaction[field] === undefined)) return event
  const fields = interaction[field] === undefined || model === undefined ? {} : { [field]: model }
  return { ...event, interaction: { ...interaction, ...(id === undefined ? {} : { id }), ...fields } }
}
