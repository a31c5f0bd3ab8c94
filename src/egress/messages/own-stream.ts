import type { CanonicalEvent, ResultStart } from '../../canonical/event.ts'
import { isObject, parseObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { Sequential } from '../../canonical/sequential.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import type { EventWriter } from '../writer.ts'
import { MessageStream } from './events.ts'

/**
 * A stream of messages, its parts one after another. Events of an upstream of this format pass as they came; the
 * writer follows them, so that any later event can be written anew.
 */
export class RelayedStream implements EventWriter {
  private readonly message: MessageStream
  private readonly inOrder: Sequential<WireEvent>
  /** The event with the stop reason, which is sent with the one that ends the answer. */
  private ending: WireEvent | undefined

  constructor(request: CanonicalRequest) {
    this.message = new MessageStream(request)
    this.inOrder = new Sequential(this.message)
  }

  push(event: CanonicalEvent): readonly WireEvent[] {
    return this.inOrder.push(event)
  }

  end(): readonly WireEvent[] {
    return this.inOrder.end()
  }

  relay(wire: WireEvent, read: readonly CanonicalEvent[]): readonly WireEvent[] {
    const [first] = read
    if (first?.type !== 'part-delta') this.follow(read)
    if (first?.type === 'result-start') return [withHead(wire, first)]
    const { ending } = this
    this.ending = wire.event === 'message_delta' ? wire : undefined
    if (this.ending !== undefined) return ending === undefined ? [] : [ending]
    return ending === undefined ? [wire] : [ending, wire]
  }

  private follow(events: readonly CanonicalEvent[]): void {
    this.message.relaying = true
    for (const event of events) this.inOrder.push(event)
    this.message.relaying = false
  }
}

/** The start under the id and model that the answer has for its caller. */
function withHead(wire: WireEvent, { id, model }: ResultStart): WireEvent {
  const start = parseObject(wire.data)!
  const message = start['message']
  if (!isObject(message) || (message['id'] === id && message['model'] === model)) return wire
  return { ...wire, data: JSON.stringify({ ...start, message: { ...message, id, model } }) }
}
