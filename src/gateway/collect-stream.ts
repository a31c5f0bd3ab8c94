import type { CanonicalEvent } from '../canonical/event.ts'
import type { Transducer } from '../canonical/transducer.ts'
import type { WireEvent } from '../canonical/wire.ts'
import { type Answer, answeredTooMuch } from '../upstreams/channel/index.ts'
import { eventParserOf } from './answer-shape.ts'

/** Converts events of an upstream's format to canonical events. */
type CanonicalReader = Transducer<WireEvent, CanonicalEvent>

/**
 * Collects the events of an answer that is a stream although none was requested. Stops at the final event, because some
 * upstreams keep the stream open or continue to send after it.
 *
 * @throws GatewayError if the stream has more than `limit` bytes or breaks off.
 */
export async function collectStream(
  answer: Answer,
  reader: CanonicalReader,
  limit: number,
): Promise<readonly CanonicalEvent[]> {
  const parser = await eventParserOf(answer)
  return new Promise((resolve, reject) => {
    const events: CanonicalEvent[] = []
    let size = 0
    let isOver = false
    const collect = (batch: readonly CanonicalEvent[]): void => {
      for (const event of batch) {
        events.push(event)
        isOver ||= event.type === 'result-end' || event.type === 'error'
      }
    }
    const read = (wire: readonly WireEvent[]): void => {
      for (const event of wire) if (!isOver) collect(reader.push(event))
    }
    const fail = (thrown: unknown): void => {
      isOver = true
      reject(thrown)
    }
    /** Runs one step. Settles the promise if the step throws or reads the final event. */
    const runStep = (work: () => void): void => {
      if (isOver) return
      try {
        work()
        if (isOver) resolve(events)
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
      if (!isOver) collect(reader.end())
      isOver = true
    }
    answer.pipeTo({ onData: bytes => runStep(() => take(bytes)), onEnd: () => runStep(end), onError: fail })
  })
}

/**
 * Yields the events of a streamed answer no faster than the consumer reads them. Throws GatewayError if the stream
 * breaks off.
 */
export async function* arrivingEvents(answer: Answer, reader: CanonicalReader): AsyncGenerator<CanonicalEvent> {
  const parser = await eventParserOf(answer)
  for await (const bytes of answer.bytes().read()) {
    for (const event of parser.push(bytes)) yield* reader.push(event)
    if (parser.overflowed) throw answeredTooMuch()
  }
  for (const event of parser.end()) yield* reader.push(event)
  yield* reader.end()
}
