import { GatewayError } from '../canonical/error.ts'
import { type JsonObject, parseObject } from '../canonical/node.ts'
import { type Answer, type Exchange, flat, upstreamId } from '../channel/index.ts'
import { READERS } from '../ingress/index.ts'
import type { Reader } from '../ingress/reader.ts'
import { withoutByteOrderMark } from '../ingress/transport/byte-order-mark.ts'
import { eventParser } from '../ingress/transport/sse.ts'
import type { Candidate } from '../router.ts'
import type { PreparedAttempt } from './attempt.ts'
import { answerFailure, UpstreamFailure } from './failures.ts'
import { publicHeaders, withoutCredentials } from './scrub.ts'
import { withTrailingFields } from './trailing-fields.ts'

const LARGEST_ERROR = 1024 * 1024

type Use<T> = (exchange: Exchange, answer: Answer, reader: Reader, attempt: PreparedAttempt) => Promise<T>

/**
 * Sends what was written and has the answer used; the exchange lives as long as that takes, or the caller waits.
 *
 * @throws GatewayError for an answer that is an error, and what `use` throws.
 */
export async function send<T>(attempt: PreparedAttempt, use: Use<T>): Promise<T> {
  const { call, candidate, channel, prepared, report, late, signal } = attempt
  if (signal === undefined) report.tried(candidate)
  const ready = channel.ready()
  if (ready !== undefined) await ready
  const exchange = channel.send({
    format: candidate.format,
    wire: prepared.wire,
    from: call.message.headers,
    stream: attempt.request.stream,
    ...(attempt.submission === undefined ? {} : { single: true as const }),
    ...(late === undefined ? {} : { late: () => late.parts(prepared, candidate) }),
  })
  if (signal !== undefined) signal.addEventListener('abort', () => exchange.abort(), { once: true })
  // A submit is followed to its end, whether its caller stays or not.
  else if (attempt.submission === undefined) call.reply.worker = exchange
  try {
    const answer = await exchange.answer
    report.upstreamId = idOf(answer, candidate)
    const reader = READERS[candidate.format.format]!
    if (answer.status < 200 || answer.status > 299)
      throw await upstreamError(answer, reader, candidate, attempt.request.model)
    const used = await use(exchange, answer, reader, late === undefined ? attempt : withTrailingFields(attempt, late))
    channel.resting.wake(candidate.upstreamModel)
    return used
  } catch (thrown) {
    throw answerFailure(thrown)
  } finally {
    if (signal === undefined) call.reply.worker = undefined
    exchange.release()
  }
}

/** The upstream's own id of the exchange, for the log; what is as long as a key may be one. */
function idOf({ headers }: Answer, candidate: Candidate): string | undefined {
  const id = upstreamId(headers)
  return id === undefined || id.length < 16 ? id : withoutCredentials(id.slice(0, 200), candidate)
}

/** The failure that an upstream's answer is. */
export async function upstreamError(
  answer: Answer,
  reader: Reader,
  candidate: Candidate,
  model: string,
): Promise<GatewayError> {
  if (answer.status < 400)
    return new GatewayError({ kind: 'upstream-failed', message: 'The upstream answered with a redirect.' })
  const body = errorIn(await answer.text(LARGEST_ERROR))
  const error = reader.error!({ status: answer.status, headers: flat(answer.headers), body })
  return new UpstreamFailure(error, candidate.native ? publicHeaders(answer.headers, candidate, model) : {})
}

/** Google wraps errors in a list, where it is asked to stream or in OpenAI's words. */
const LISTED = /^\s*\[([\s\S]*)\]\s*$/

function errorIn(said: string): JsonObject {
  const text = withoutByteOrderMark(said)
  return parseObject(text) ?? parseObject(LISTED.exec(text)?.[1] ?? '') ?? eventIn(text) ?? {}
}

/** The first event that says anything, where an upstream has its error as the stream it was asked for. */
function eventIn(text: string): JsonObject | undefined {
  const parser = eventParser()
  const events = [...parser.push(Buffer.from(text)), ...parser.end()]
  return events
    .values()
    .map(({ data }) => parseObject(data))
    .find(body => body !== undefined)
}
