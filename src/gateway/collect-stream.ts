import type { CanonicalEvent } from '../canonical/event.ts'
import type { Transducer } from '../canonical/transducer.ts'
import type { WireEvent } from '../canonical/wire.ts'
import { eventParser } from '../ingress/transport/sse.ts'
import { type Answer, answeredTooMuch } from '../upstreams/channel/index.ts'

/** An upstream's format to canonical. */
type Machine = Transducer<WireEvent, CanonicalEvent>

/**
 * The events of an answer that streams although that was not requested, up to its last: some upstreams leave the stream open
 * behind it, or go on talking.
 *
 * @throws GatewayError for more than `limit` bytes, and where the stream broke off.
 */
export const collectStream = (answer: Answer, machine: Machine, limit: number): Promise<readonly CanonicalEvent[]> =>
  new Promise((resolve, reject) => {
    const parser = eventParser()
    const events: CanonicalEvent[] = []
    let size = 0
    let over = false
    const note = (some: readonly CanonicalEvent[]): void => {
      for (const event of some) {
        events.push(event)
        over ||= event.type === 'result-end' || event.type === 'error'
      }
    }
    const read = (wire: readonly WireEvent[]): void => {
      for (const event of wire) if (!over) note(machine.push(event))
    }
    const fail = (thrown: unknown): void => {
      over = true
      reject(thrown)
    }
    /** What throws ends it, as its last event does. */
    const guarded = (work: () => void): void => {
      if (over) return
      try {
        work()
        if (over) resolve(events)
      } catch (thrown) {
        fail(thrown)
      }
    }
    const take = (bytes: Uint8Array): void => {
      size += bytes.length
      read(parser.push(bytes))
      if (size > limit || parser.overflowed) throw answeredTooMuch()
    }
    const end = (): void => {
      read(parser.end())
      if (!over) note(machine.end())
      over = true
    }
    answer.pipeTo({ onData: bytes => guarded(() => take(bytes)), onEnd: () => guarded(end), onError: fail })
  })

/** The events of a streamed answer, read no faster than they are taken. Rejects with GatewayError where it broke off. */
export async function* eventsComing(answer: Answer, machine: Machine): AsyncGenerator<CanonicalEvent> {
  const parser = eventParser()
  for await (const bytes of answer.bytes().read()) {
    for (const event of parser.push(bytes)) yield* machine.push(event)
    if (parser.overflowed) throw answeredTooMuch()
  }
  for (const event of parser.end()) yield* machine.push(event)
  yield* machine.end()
}
