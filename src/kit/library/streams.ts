import { GatewayError, upstreamFailed } from '../../canonical/error.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import { applyEvent, fold } from '../../canonical/fold.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import { chain, type Transducer } from '../../canonical/transducer.ts'
import type { WireEvent } from '../../canonical/wire.ts'
import { EVENT_STREAM } from '../../egress/transport/sse.ts'
import { textEventParser } from '../../ingress/transport/sse.ts'
import { ANY_REQUEST } from './answers.ts'
import type { Codec } from './codec.ts'

const STREAM_REQUEST: CanonicalRequest = { ...ANY_REQUEST, stream: true }

/**
 * Creates a transform from the bytes of a streamed answer (server-sent events) to canonical events. Malformed input and
 * a truncated stream become an error event.
 *
 * @example
 * ```ts
 * const response = new Response('data: {"id":"a","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
 * const result = await foldStream(response.body!.pipeThrough(readStream(chat)))
 * result.candidates[0].content // [{ type: 'text', text: 'Hi' }]
 * ```
 */
export const readStream = (
  codec: Codec,
  request: CanonicalRequest = STREAM_REQUEST,
): TransformStream<Uint8Array, CanonicalEvent> => transformOf(chain(parser(), codec.reader.events!(request)))

/** Creates a transform from canonical events to the bytes of a streamed answer (server-sent events). */
export const writeStream = (
  codec: Codec,
  request: CanonicalRequest = STREAM_REQUEST,
): TransformStream<CanonicalEvent, Uint8Array> => transformOf(chain(codec.writer.events!(request), framer()))

/** Folds a stream of canonical events into the whole answer. */
export async function foldStream(events: ReadableStream<CanonicalEvent>): Promise<CanonicalResult> {
  let result = fold([])
  const reader = events.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read())
    result = applyEvent(result, next.value, true)
  return result
}

/** Wraps a transducer as a transform stream. */
export const transformOf = <Input, Output>(machine: Transducer<Input, Output>): TransformStream<Input, Output> =>
  new TransformStream({
    transform(input, controller) {
      for (const output of machine.push(input)) controller.enqueue(output)
    },
    flush(controller) {
      for (const output of machine.end()) controller.enqueue(output)
    },
  })

/** Creates a parser of server-sent events, which throws GatewayError for an event over the limit. */
export function parser(): Transducer<Uint8Array, WireEvent> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const events = textEventParser()
  return {
    push: bytes => {
      const newEvents = events.push(decoder.decode(bytes, { stream: true }))
      if (events.overflowed) throw new GatewayError(EVENT_TOO_LARGE)
      return newEvents
    },
    end: () => [...events.push(decoder.decode()), ...events.end()],
  }
}

const EVENT_TOO_LARGE = upstreamFailed('The stream has an event larger than 48 MB.')

/** Creates a writer of events as bytes of server-sent events. */
export function framer(): Transducer<WireEvent, Uint8Array> {
  const encoder = new TextEncoder()
  return { push: event => [encoder.encode(EVENT_STREAM.frame(event, false))], end: () => [] }
}
