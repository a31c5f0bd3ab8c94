import type { GatewayError } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { Transducer } from '../canonical/transducer.ts'
import type { WireEvent } from '../canonical/wire.ts'
import { type Answer, answeredTooMuch, type Taker } from '../channel/index.ts'
import { eventParser } from '../ingress/transport/sse.ts'

/**
 * The events of an answer that streams although that was not requested, up to its last: some upstreams leave the stream open
 * behind it, or go on talking.
 *
 * @throws GatewayError for more than `limit` bytes, and where the stream broke off.
 */
export const collectStream = (
  answer: Answer,
  machine: Transducer<WireEvent, CanonicalEvent>,
  limit: number,
): Promise<readonly CanonicalEvent[]> =>
  new Promise((resolve, reject) => answer.flow(new StreamCollector(machine, limit, resolve, reject)))

/** The events of a streamed answer, read no faster than they are taken. Rejects with GatewayError where it broke off. */
export async function* eventsComing(
  answer: Answer,
  machine: Transducer<WireEvent, CanonicalEvent>,
): AsyncGenerator<CanonicalEvent> {
  const parser = eventParser()
  for await (const bytes of answer.bytes().read()) {
    for (const event of parser.push(bytes)) yield* machine.push(event)
    if (parser.overflowed) throw answeredTooMuch()
  }
  for (const event of parser.end()) yield* machine.push(event)
  yield* machine.end()
}

class StreamCollector implements Taker {
  private readonly parser = eventParser()
  private readonly events: CanonicalEvent[] = []
  private size = 0
  private over = false
  private readonly machine: Transducer<WireEvent, CanonicalEvent>
  private readonly limit: number
  private readonly resolve: (events: readonly CanonicalEvent[]) => void
  private readonly reject: (reason: unknown) => void

  constructor(
    machine: StreamCollector['machine'],
    limit: number,
    resolve: StreamCollector['resolve'],
    reject: StreamCollector['reject'],
  ) {
    this.machine = machine
    this.limit = limit
    this.resolve = resolve
    this.reject = reject
  }

  take(bytes: Uint8Array): void {
    this.guarded(() => {
      this.size += bytes.length
      this.read(this.parser.push(bytes))
      if (this.size > this.limit || this.parser.overflowed) throw answeredTooMuch()
    })
  }

  end(): void {
    this.guarded(() => {
      this.read(this.parser.end())
      if (!this.over) this.note(this.machine.end())
      this.over = true
    })
  }

  fail(error: GatewayError): void {
    this.over = true
    this.reject(error)
  }

  private read(wire: readonly WireEvent[]): void {
    for (const event of wire) if (!this.over) this.note(this.machine.push(event))
  }

  private note(events: readonly CanonicalEvent[]): void {
    for (const event of events) {
      this.events.push(event)
      this.over ||= event.type === 'result-end' || event.type === 'error'
    }
  }

  /** What throws ends it, as its last event does. */
  private guarded(work: () => void): void {
    if (this.over) return
    try {
      work()
      if (this.over) this.resolve(this.events)
    } catch (thrown) {
      this.fail(thrown as GatewayError)
    }
  }
}
