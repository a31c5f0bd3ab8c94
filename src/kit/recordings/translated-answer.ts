import { BufferedBytes } from '../../canonical/bytes.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import { parseCallData, parseExactObject } from '../../canonical/exact-numbers.ts'
import { fold, unfold } from '../../canonical/fold.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import { drain } from '../../canonical/transducer.ts'
import type { WireAnswer, WireEvent } from '../../canonical/wire.ts'
import { WRITERS } from '../../egress/index.ts'
import { FRAMINGS, type FramingKind } from '../../egress/transport/framings.ts'
import { READERS } from '../../ingress/index.ts'
import { eventParser } from '../../ingress/transport/event-parser.ts'
import { openFrameParser } from '../../ingress/transport/frames.ts'
import { bodyBytes, bytesOf } from './body.ts'
import type { Entry } from './entry.ts'
import { isFramed } from './event-frames.ts'
import { fittedResult } from './fitted-result.ts'
import { type ReadRequest, readRequest } from './read-request.ts'

/** An answer for a caller. The chunks of a stream are complete events. */
export interface CallerAnswer {
  readonly status: number
  readonly contentType: string
  readonly chunks: readonly Buffer[]
}

/**
 * Writes a recorded answer in the caller's format, whole or streamed as the caller wants. Returns undefined if the
 * answer cannot be translated between the formats.
 */
export async function translatedAnswer(
  entry: Entry,
  caller: ReadRequest,
  framing: FramingKind,
): Promise<CallerAnswer | undefined> {
  const { format = '', answer } = entry
  const [reader, writer] = [READERS[format], WRITERS[caller.route.format]]
  const recorded = readRequest(entry.recording.request)
  if (reader === undefined || writer === undefined || recorded === undefined) return undefined
  const { route, canonical: recordedRequest } = recorded
  const bytes = bytesIn(entry)
  if (answer.status >= 400) {
    const error = READERS[route.errors ?? format]?.error?.({
      status: answer.status,
      headers: answer.headers,
      body: objectIn(bytes),
    })
    const wire = error && WRITERS[caller.route.errors ?? caller.route.format]?.error?.(error, 'replay')
    return wire && { status: wire.status, contentType: JSON_TYPE, chunks: [Buffer.from(JSON.stringify(wire.body))] }
  }
  const events = entry.streams
    ? reader.events &&
      drain(reader.events(recordedRequest), await wireEvents(bytes, answer.headers['content-type'] ?? ''))
    : reader.result && [
        ...unfold(
          reader.result(
            { status: answer.status, headers: answer.headers, ...bodyOf(bytes, answer.headers) },
            recordedRequest,
          ),
        ),
      ]
  return events && writeResult(events, caller, { framing, isFitted: entry.partial !== undefined })
}

const JSON_TYPE = 'application/json; charset=utf-8'

interface WriteContext {
  readonly framing: FramingKind
  /** True to adapt the answer to the caller's request. */
  readonly isFitted: boolean
}

function writeResult(
  events: readonly CanonicalEvent[],
  { route, streams, canonical }: ReadRequest,
  { framing, isFitted }: WriteContext,
): CallerAnswer | undefined {
  const writer = WRITERS[route.format]!
  const folded = fold(events)
  const recorded: CanonicalResult = {
    ...folded,
    id: folded.id ?? 'replay',
    model: canonical.model,
    createdAt: folded.createdAt ?? 0,
  }
  const result = isFitted ? fittedResult(recorded, canonical) : recorded
  if (!(streams || canonical.stream)) {
    const wire = writer.result?.(result, canonical).wire
    const whole = wire && wholeBody(wire)
    return whole && { status: wire.status, ...whole }
  }
  if (writer.events === undefined) return undefined
  const { id, model, createdAt } = result
  const identifiedEvents = events.map(one =>
    one.type === 'result-start' ? { ...one, ...{ id, model, createdAt } } : one,
  )
  const { frame, close, contentType, binary } = FRAMINGS[framing]
  const wire = drain(writer.events(canonical), identifiedEvents as Iterable<CanonicalEvent>)
  const chunks = wire.map((event, index) => frame(event, index === 0))
  return {
    ...{ status: 200, contentType },
    chunks: [...chunks, close(chunks.length === 0)].map(text => Buffer.from(text, binary ? 'latin1' : 'utf8')),
  }
}

/** Returns the body of a whole answer, or undefined if its bytes are not in memory. */
function wholeBody({ body, raw }: WireAnswer): Pick<CallerAnswer, 'contentType' | 'chunks'> | undefined {
  if (raw === undefined) return { contentType: JSON_TYPE, chunks: [Buffer.from(JSON.stringify(body))] }
  const bytes = 'text' in raw ? Buffer.from(raw.text) : raw.bytes instanceof BufferedBytes ? raw.bytes.bytes : undefined
  return bytes && { contentType: raw.mediaType, chunks: [Buffer.from(bytes)] }
}

/** Returns the bytes of a recorded answer. */
export const bytesIn = ({ answer }: Entry): Buffer =>
  answer.chunks === undefined ? bodyBytes(answer.body) : Buffer.concat(answer.chunks.map(bytesOf))

/** Parses server-sent events, binary frames, or the items of a JSON array. */
async function wireEvents(bytes: Buffer, contentType: string): Promise<readonly WireEvent[]> {
  if (isFramed(contentType)) return drain(await openFrameParser(), [bytes])
  if (!/json/i.test(contentType)) return drain(eventParser(), [bytes])
  const items = parseCallData(bytes.toString('utf8'))
  return Array.isArray(items) ? items.map(item => ({ data: JSON.stringify(item) })) : []
}

const objectIn = (bytes: Buffer): JsonObject => parseExactObject(bytes.toString('utf8')) ?? {}

const bodyOf = (bytes: Buffer, { 'content-type': mediaType = '' }: { readonly [name: string]: string }) =>
  /json/i.test(mediaType)
    ? { body: objectIn(bytes) }
    : { body: {}, raw: { mediaType, bytes: new BufferedBytes(bytes) } }
