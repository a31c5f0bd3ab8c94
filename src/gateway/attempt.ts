import { GatewayError } from '../canonical/error.ts'
import { parseObject } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { type Answer, type Channel, flat, forwardable, retryAfterSeconds, upstreamId } from '../channel.ts'
import { READERS } from '../ingress/index.ts'
import type { Reader } from '../ingress/reader.ts'
import type { Candidate } from '../router.ts'
import type { Call } from './call.ts'
import { UpstreamFailure } from './failures.ts'
import type { Prepared } from './prepare.ts'
import type { Report } from './report.ts'
import { streamed } from './streamed.ts'
import { whole } from './whole.ts'

const LARGEST_ERROR = 1024 * 1024

/** One candidate's turn at a request. */
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
 * @throws GatewayError; where nothing was sent to the caller yet, another channel may be tried.
 */
export async function attempt(attempt: Attempt): Promise<void> {
  const { call, request, candidate, channel, prepared, report } = attempt
  const exchange = channel.send({
    format: candidate.format,
    wire: prepared.wire,
    from: call.message.headers,
    stream: request.stream,
  })
  call.reply.onGone = () => exchange.abort()
  try {
    const answer = await exchange.answer
    report.upstreamId = upstreamId(answer.headers)
    const reader = READERS[candidate.format.format]!
    if (answer.status < 200 || answer.status > 299) throw await errorOf(answer, reader, candidate)
    if (request.stream) await streamed(attempt, exchange, answer, reader)
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
