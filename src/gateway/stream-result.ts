import { unfold } from '../canonical/fold.ts'
import { NOTHING } from '../canonical/transducer.ts'
import type { Answer } from '../channel/index.ts'
import type { Reader } from '../ingress/reader.ts'
import { checkedResult } from './check-result.ts'
import { eventsComing } from './collect-stream.ts'
import { toFailure } from './failures.ts'
import { readWireResult } from './read-result.ts'
import { publicHeaders } from './scrub.ts'
import type { Sent } from './send.ts'
import { shapeOf } from './shape.ts'
import { inMp3, wantsMp3 } from './speech/container.ts'
import { encodedEvents } from './speech/encoding.ts'
import { StreamPipeline } from './stream-pipeline.ts'
import { exchangeOf } from './thoughts/exchange.ts'
import type { Answered, Attempt } from './types.ts'
import { Gate, unfoldMedia } from './unfold-media.ts'
import { withoutBytes } from './write-result.ts'

/**
 * Passes an upstream's answer on to the caller, event by event.
 *
 * @throws GatewayError where it failed before anything was sent to the caller, or the caller left.
 */
export async function streamResult(sent: Sent): Promise<void> {
  const { attempt, prepared, exchange, answer, reader } = sent
  const { call, candidate, request, thoughts } = attempt
  const isWhole = shapeOf(answer, reader, true) !== 'events'
  const isEncoded = !isWhole && wantsMp3(attempt)
  const stream = new StreamPipeline(attempt, {
    read: reader.events?.(prepared.request) ?? SILENT,
    restore: prepared.restorer?.events(),
    thoughts: thoughts?.collector(exchangeOf(sent)),
    losses: prepared.losses,
    headers: candidate.native ? publicHeaders(answer.headers, candidate, request.model) : NO_HEADERS,
    exchange,
    gate: isWhole || isEncoded ? new Gate() : undefined,
  })
  call.reply.worker = stream
  if (isWhole) await unfoldAnswer(sent, stream)
  else if (isEncoded) await stream.takeComing(encodedAnswer(answer, reader, prepared.request))
  else answer.flow(stream)
  await stream.done
}

/** Writes an answer that was made as a whole as the stream the caller requested. */
export async function streamWholeResult(attempt: Attempt, { result, losses, headers }: Answered): Promise<void> {
  const stream = new StreamPipeline(attempt, { ...WHOLE, losses, headers })
  attempt.call.reply.worker = stream
  stream.takeWhole(unfold(await withoutBytes(result)))
  await stream.done
}

const SILENT = { push: () => NOTHING, end: () => NOTHING }
const NO_HEADERS = {}
/** Nothing of the answer is still on its way. */
const WHOLE = { read: SILENT, restore: undefined, thoughts: undefined, exchange: undefined, gate: undefined } as const

/** The events of a recording whose samples are encoded as they come. */
const encodedAnswer = (answer: Answer, { events }: Reader, request: Attempt['request']) =>
  encodedEvents(eventsComing(answer, events!(request)))

/** Streams the answer of an upstream that answers whole although a stream was requested: bytes as they come. */
async function unfoldAnswer({ attempt, prepared, answer, reader }: Sent, stream: StreamPipeline): Promise<void> {
  try {
    const { request, native } = prepared
    const result = checkedResult(await readWireResult(answer, reader, request), request, native)
    await stream.takeComing(unfoldMedia(wantsMp3(attempt) ? await inMp3(result) : result))
  } catch (thrown) {
    stream.leave(toFailure(thrown))
  }
}
