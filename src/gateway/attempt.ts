import { GatewayError } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import { fold, unfold } from '../canonical/fold.ts'
import { parseObject } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import {
  type Answer,
  type Channel,
  type Exchange,
  flat,
  forwardable,
  type Headers,
  retryAfterSeconds,
  single,
  upstreamId,
} from '../channel.ts'
import { WRITERS } from '../egress/index.ts'
import { jsonText } from '../egress/json.ts'
import { lossHeaders, shown } from '../egress/losses.ts'
import { EVENT_STREAM, EventStream, JSON_ARRAY } from '../egress/sse.ts'
import { READERS } from '../ingress/index.ts'
import type { Reader } from '../ingress/reader.ts'
import { eventParser } from '../ingress/sse.ts'
import type { Candidate } from '../router.ts'
import type { Call } from './call.ts'
import { dresser } from './dress.ts'
import { seenFromOutside, UpstreamFailure } from './failures.ts'
import type { Prepared } from './prepare.ts'
import type { Report } from './report.ts'
import { StreamedAnswer } from './stream.ts'

/** Bytes a whole answer may have: a few large pictures in base64. */
const LARGEST_ANSWER = 128 * 1024 * 1024
const LARGEST_ERROR = 1024 * 1024

export interface Attempt {
  readonly call: Call
  /** The request as the caller made it. */
  readonly request: CanonicalRequest
  readonly candidate: Candidate
  readonly channel: Channel
  readonly prepared: Prepared
  readonly report: Report
  /** Milliseconds between signs of life on a silent stream. */
  readonly heartbeat: number
}

/**
 * Has one channel answer: sends the request, reads the answer, writes it to the caller.
 *
 * @throws GatewayError with nothing sent to the caller, so that another channel may be tried.
 */
export async function attempt(attempt: Attempt): Promise<void> {
  const { call, candidate, channel, prepared, report } = attempt
  const exchange = channel.send({ format: candidate.format, wire: prepared.wire, from: call.message.headers })
  call.reply.onGone = () => exchange.abort()
  try {
    const answer = await exchange.answer
    report.upstreamId = upstreamId(answer.headers)
    const reader = READERS[candidate.format.format]!
    if (answer.status < 200 || answer.status > 299) throw await errorOf(answer, reader, candidate)
    if (attempt.request.stream) await streamed(attempt, exchange, answer, reader)
    else await whole(attempt, answer, reader)
  } finally {
    call.reply.onGone = undefined
    exchange.release()
  }
}

async function errorOf(answer: Answer, reader: Reader, { native }: Candidate): Promise<GatewayError> {
  if (answer.status < 400)
    return new GatewayError({ kind: 'upstream-failed', message: 'The upstream answered with a redirect.' })
  const body = parseObject(await answer.text(LARGEST_ERROR)) ?? {}
  const error = reader.error!({ status: answer.status, headers: flat(answer.headers), body })
  const wait = error.retryAfterSeconds ?? retryAfterSeconds(answer.headers, Date.now())
  return new UpstreamFailure(
    wait === undefined ? error : { ...error, retryAfterSeconds: wait },
    native ? forwardable(answer.headers) : {},
  )
}

async function whole({ call, request, candidate, prepared, report }: Attempt, answer: Answer, reader: Reader) {
  const raw = await read(answer, reader, prepared.asked)
  const dress = dresser(call.id, request.model, candidate)
  const result = dress(prepared.restorer?.result(raw) ?? raw)
  if (result.error !== undefined && result.candidates.length === 0) throw new GatewayError(result.error)
  const { wire, losses } = WRITERS[call.format]!.result!(result, request)
  report.answered(result)
  const told = [...shown(prepared.losses), ...shown(losses).filter(loss => loss.path[0] === 'candidates')]
  report.losses = told.length
  report.begun()
  const headers = { ...wire.headers, ...lossHeaders(told), ...(candidate.native ? forwardable(answer.headers) : {}) }
  call.reply.whole(wire.status, headers, jsonText(wire.body))
}

async function read(answer: Answer, reader: Reader, asked: CanonicalRequest): Promise<CanonicalResult> {
  if (isEventStream(answer.headers)) return fold(await eventsOf(answer, reader, asked))
  return reader.result!({ status: answer.status, headers: flat(answer.headers), body: await bodyOf(answer) }, asked)
}

async function bodyOf(answer: Answer) {
  const body = parseObject(await answer.text(LARGEST_ANSWER))
  if (body !== undefined) return body
  throw new GatewayError({ kind: 'upstream-failed', message: 'The upstream answered something that is not JSON.' })
}

/** An upstream that streams although it was not asked to. */
async function eventsOf(answer: Answer, reader: Reader, asked: CanonicalRequest): Promise<CanonicalEvent[]> {
  const parser = eventParser()
  const machine = reader.events!(asked)
  const wire = [...parser.push(Buffer.from(await answer.text(LARGEST_ANSWER))), ...parser.end()]
  return [...wire.flatMap(event => machine.push(event)), ...machine.end()]
}

const isEventStream = (headers: Headers): boolean => single(headers['content-type']).startsWith('text/event-stream')

/** Upstreams forget to say that they stream; that they do not, they always say. */
const isJson = (headers: Headers): boolean => single(headers['content-type']).includes('json')

async function streamed(attempt: Attempt, exchange: Exchange, answer: Answer, reader: Reader): Promise<void> {
  const { call, request, candidate, prepared, report, heartbeat } = attempt
  const dress = dresser(call.id, request.model, candidate)
  const headers = {
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
    ...lossHeaders(prepared.losses),
    ...(candidate.native ? forwardable(answer.headers) : {}),
  }
  const framing = call.framing === 'events' ? EVENT_STREAM : JSON_ARRAY
  report.losses = shown(prepared.losses).length

  const stream = new StreamedAnswer({
    read: reader.events!(prepared.asked),
    restore: prepared.restorer?.events(),
    see: raw => {
      const event = raw.type === 'error' ? { ...raw, error: seenFromOutside(raw.error, candidate, request.model) } : raw
      report.saw(event)
      return event.type === 'result-start' ? dress(event) : event
    },
    write: WRITERS[call.format]!.events!(request),
    open: () => {
      report.begun()
      call.reply.begin({ ...headers, 'content-type': framing.contentType })
      return new EventStream(call.reply, { framing, heartbeat: call.heartbeat, interval: heartbeat, source: exchange })
    },
    patience: heartbeat,
  })
  call.reply.onGone = () => {
    stream.leave(new GatewayError({ kind: 'cancelled', message: 'The caller went away.' }))
    exchange.abort()
  }
  if (isJson(answer.headers)) await takeWhole(stream, answer, reader, prepared.asked)
  else answer.flow(stream)
  await stream.done
}

/** An upstream that answers whole although it was asked to stream. */
async function takeWhole(stream: StreamedAnswer, answer: Answer, reader: Reader, asked: CanonicalRequest) {
  try {
    stream.takeWhole(unfold(await read(answer, reader, asked)))
  } catch (thrown) {
    if (thrown instanceof GatewayError) stream.fail(thrown)
    else throw thrown
  }
}
