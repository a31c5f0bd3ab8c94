import type { GatewayError } from '../canonical/error.ts'
import type { CanonicalEvent, PartStart } from '../canonical/event.ts'
import { unfold } from '../canonical/fold.ts'
import { Base64Groups } from '../canonical/media/base64.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import { NOTHING } from '../canonical/transducer.ts'
import { workOf } from '../canonical/work.ts'
import type { Reader } from '../ingress/reader.ts'
import type { Answer } from '../upstreams/channel/index.ts'
import { eventParserOf, shapeOf } from './answer-shape.ts'
import { arrivingEvents } from './collect-stream.ts'
import { toFailure } from './failures.ts'
import { keepRefusal } from './model-fallback.ts'
import { mayPause } from './paused-answer.ts'
import { PausedStream } from './paused-stream.ts'
import { checkedResult, readWireResult } from './read-result.ts'
import { publicHeaders } from './scrub.ts'
import type { AcceptedRequest } from './send.ts'
import { inMp3, wantsMp3 } from './speech/container.ts'
import { encodedEvents } from './speech/encoding.ts'
import { Gate } from './stream-head.ts'
import { StreamPipeline, type StreamStages } from './stream-pipeline.ts'
import { watchSignatures } from './thoughts/own-signatures.ts'
import type { Attempt, WholeAnswer } from './types.ts'
import { withoutBytes } from './write-result.ts'

/**
 * Passes an upstream's answer on to the caller, event by event.
 *
 * @returns the upstream's failure, if it occurred after the answer had started. Returns undefined if the answer is
 * complete.
 * @throws GatewayError if the upstream failed before anything was sent to the caller, or the caller left.
 */
export async function streamResult(acceptedRequest: AcceptedRequest): Promise<GatewayError | undefined> {
  const { attempt, prepared, exchange, answer, reader } = acceptedRequest
  const { incoming, target, request, reasoning } = attempt
  const isWhole = shapeOf(answer, reader, true) !== 'events'
  const parserLookup = isWhole ? undefined : eventParserOf(answer)
  const parser = parserLookup instanceof Promise ? await parserLookup : parserLookup
  const isMp3 = workOf(request) === 'speech' && wantsMp3(attempt)
  const isEncoded = !isWhole && isMp3
  const pauses = isWhole || isEncoded || !mayPause(acceptedRequest) ? undefined : new PausedStream(acceptedRequest)
  const stream = new StreamPipeline(attempt, {
    read: pauses ?? reader.events?.(prepared.request) ?? NO_EVENTS,
    restore: prepared.restorer?.events(),
    reasoning: watchSignatures(target, attempt.signers, reasoning?.collector(acceptedRequest)),
    losses: prepared.losses,
    headers: target.native ? publicHeaders(answer.headers, target, request.model) : NO_HEADERS,
    exchange: pauses ?? exchange,
    pauses,
    gate: isWhole || isEncoded ? new Gate() : undefined,
    refused: refusalKeeper(acceptedRequest),
    ...(parser === undefined ? {} : { parser }),
  })
  incoming.call.reply.abortable = stream
  if (isWhole) await unfoldAnswer(acceptedRequest, stream, isMp3)
  else if (isEncoded) await stream.passStream(encodedAnswer(answer, reader, prepared.request))
  else answer.pipeTo(stream)
  try {
    await stream.done
  } finally {
    pauses?.close(stream.failure === undefined)
  }
  return stream.failure
}

/**
 * Returns the function that stores a streamed refusal while fallback models are tried. The refusal counts as a success
 * of its channel. Returns undefined if there is no fallback for refusals.
 */
function refusalKeeper(acceptedRequest: AcceptedRequest): StreamStages['refused'] {
  const { attempt } = acceptedRequest
  if (attempt.incoming.fallbacks?.has('refusal') !== true) return undefined
  return (result, send) => {
    const isStored = keepRefusal(attempt, result, send)
    if (isStored) {
      attempt.incoming.report.recordUnsent(result)
      acceptedRequest.recordSuccess()
    }
    return isStored
  }
}

/** Writes a complete answer as the stream that the caller requested. */
export async function streamWholeResult(attempt: Attempt, { result, losses, headers }: WholeAnswer): Promise<void> {
  const stream = new StreamPipeline(attempt, { ...WHOLE_STAGES, losses, headers })
  const { call, report } = attempt.incoming
  call.reply.abortable = stream
  const events = unfold(await withoutBytes(result))
  report.recordWhole(result)
  stream.passResult(events)
  await stream.done
}

/** Writes the empty answer to a request that is only stored. */
export const streamEmptyResult = (attempt: Attempt): Promise<void> => streamWholeResult(attempt, EMPTY_ANSWER)

const EMPTY_ANSWER: WholeAnswer = {
  result: { candidates: [{ content: [], finish: { reason: 'stop' } }], usage: { input: 0, output: 0 } },
  losses: [],
  headers: {},
}

const NO_EVENTS = { push: () => NOTHING, end: () => NOTHING }
const NO_HEADERS = {}
/** Stages for an answer that has arrived completely. */
const WHOLE_STAGES = {
  read: NO_EVENTS,
  restore: undefined,
  reasoning: undefined,
  exchange: undefined,
  gate: undefined,
} as const

/** Yields the events of an audio answer, with samples encoded to MP3 as they arrive. */
const encodedAnswer = (answer: Answer, { events }: Reader, request: Attempt['request']) =>
  encodedEvents(arrivingEvents(answer, events!(request)))

/**
 * Streams the whole answer of an upstream that sent no stream although one was requested. Sends bytes as they arrive.
 */
async function unfoldAnswer(
  { attempt, prepared, answer, reader }: AcceptedRequest,
  stream: StreamPipeline,
  isMp3: boolean,
): Promise<void> {
  try {
    const { request, native } = prepared
    const { report } = attempt.incoming
    const read = await readWireResult(answer, reader, request)
    report.recordUnsent(read)
    const result = checkedResult(read, request, native)
    report.recordWhole(result)
    await stream.passStream(unfoldMedia(isMp3 ? await inMp3(result) : result))
  } catch (thrown) {
    stream.refuse(toFailure(thrown))
  }
}

/**
 * Yields the events of a result whose media may still be arriving. Bytes become base64 chunk by chunk. Rejects if
 * reading the bytes fails.
 */
async function* unfoldMedia(result: CanonicalResult): AsyncGenerator<CanonicalEvent> {
  for (const event of unfold(result)) {
    if (event.type === 'part-start' && hasBytes(event.part)) yield* base64Events(event)
    else yield event
  }
}

const hasBytes = (part: PartStart['part']): boolean => part.type === 'media' && part.source.type === 'bytes'

async function* base64Events({ at, part }: PartStart): AsyncGenerator<CanonicalEvent> {
  if (part.type !== 'media' || part.source.type !== 'bytes') return
  const { mediaType, bytes } = part.source
  yield { type: 'part-start', at, part: { ...part, source: { type: 'base64', mediaType, data: '' } } }
  const groups = new Base64Groups()
  for await (const piece of bytes.read()) {
    const append = groups.push(bufferOf(piece))
    if (append !== '') yield { type: 'part-delta', at, append }
  }
  const append = groups.end()
  if (append !== '') yield { type: 'part-delta', at, append }
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
