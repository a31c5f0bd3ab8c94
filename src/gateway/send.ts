import { GatewayError } from '../canonical/error.ts'
import { type JsonObject, parseObject } from '../canonical/node.ts'
import { withoutByteOrderMark } from '../canonical/text.ts'
import { READERS } from '../ingress/index.ts'
import type { Reader } from '../ingress/reader.ts'
import { eventParser } from '../ingress/transport/sse.ts'
import { type Answer, type Exchange, flat, passedTrace, upstreamId } from '../upstreams/channel/index.ts'
import type { Target } from '../upstreams/router.ts'
import { answerFailure, UpstreamFailure } from './failures.ts'
import type { AttemptTrace, TracedAttempt } from './metrics/traces.ts'
import { type Prepared, prepare, refused } from './prepare.ts'
import { publicHeaders, withoutCredentials } from './scrub.ts'
import type { Attempt } from './types.ts'

const LARGEST_ERROR = 1024 * 1024

/** A request that the upstream accepted: the head of its answer, with the body still to be read. */
export class Sent {
  /** With every field of the request, also those that followed a file. */
  readonly attempt: Attempt
  readonly prepared: Prepared
  readonly exchange: Exchange
  readonly answer: Answer
  readonly reader: Reader
  private readonly begun: Begun
  private isComplete = false

  constructor(attempt: Attempt, prepared: Prepared, begun: Begun) {
    this.attempt = attempt
    this.prepared = prepared
    this.exchange = begun.exchange
    this.answer = begun.answer
    this.reader = READERS[attempt.target.format.format]!
    this.begun = begun
  }

  /** The answer came, or the gateway itself ended it: the model rests no longer, and a request without an error is counted. */
  succeeded(): void {
    const { channel, target } = this.attempt
    channel.resting.wake(target.upstreamModel)
    this.isComplete = true
    channel.stats.succeeded()
  }

  /** Ends the exchange; to be called once the body is read, or is not read any further. */
  close(): void {
    const { isShared, trace } = this.begun
    if (!isShared) this.attempt.call.reply.abortable = undefined
    this.exchange.discardRest()
    if (trace !== undefined) {
      const { usage, failure } = this.attempt.report
      trace.end(usage, failure ?? (this.isComplete ? undefined : 'interrupted'))
    }
  }
}

/** An exchange whose answer began. */
interface Begun {
  readonly exchange: Exchange
  readonly answer: Answer
  /** It is one of several requests at once: the caller's leaving is handled for all of them. */
  readonly isShared: boolean
  readonly trace: AttemptTrace | undefined
}

/**
 * Sends a written request and waits for the head of the answer. The caller of this function releases what it returns.
 *
 * @param signal ends the exchange where it is one of several at once.
 * @throws GatewayError for an answer that is an error, or no answer.
 */
export async function send(attempt: Attempt, prepared: Prepared, signal?: AbortSignal): Promise<Sent> {
  const { call, target, channel, report, trailing, request } = attempt
  if (signal === undefined) report.tried(target)
  const ready = channel.ready()
  if (ready !== undefined) await ready
  const captured = attempt.capture?.sending(attempt, prepared)
  const trace = report.trace?.attempt(tracedAttempt(target))
  const { headers } = call.message
  const passed = trace?.headers ?? (headers['traceparent'] === undefined ? undefined : passedTrace(headers))
  const exchange = channel.send({
    format: target.format,
    wire: prepared.wire,
    from: headers,
    trace: passed,
    stream: request.stream,
    single: attempt.submission !== undefined,
    late: trailing && (() => trailing.parts(prepared, target)),
  })
  if (signal !== undefined) signal.addEventListener('abort', () => exchange.abort(), { once: true })
  // A submit is followed to its end, whether its caller stays or not.
  else if (attempt.submission === undefined) call.reply.abortable = exchange
  try {
    const answer = captured === undefined ? await exchange.answer : captured.answered(await exchange.answer)
    report.reached(idOf(answer, target))
    trace?.answered(answer.status)
    if (answer.status < 200 || answer.status > 299) throw await upstreamError(answer, target, request.model)
    const begun: Begun = { exchange, answer, isShared: signal !== undefined, trace }
    return trailing?.whole === undefined
      ? new Sent(attempt, prepared, begun)
      : new Sent(...completed(attempt, trailing.whole), begun)
  } catch (thrown) {
    if (signal === undefined) call.reply.abortable = undefined
    exchange.discardRest()
    const failure = answerFailure(thrown)
    if (failure instanceof GatewayError) captured?.failed(failure.error)
    trace?.end(undefined, failure instanceof GatewayError ? failure.error.kind : 'internal')
    throw failure
  }
}

/** The attempt with all fields of its request: the answer is read and written by them. */
function completed(attempt: Attempt, request: Attempt['request']): [Attempt, Prepared] {
  const prepared = prepare(request, attempt.target)
  const refusal = refused(request, prepared.losses, attempt.onLoss)
  if (refusal !== undefined) throw refusal
  return [{ ...attempt, request }, prepared]
}

/** The upstream's own id of the exchange, for the log; one that is as long as a key could be one. */
function idOf({ headers }: Answer, target: Target): string | undefined {
  const id = upstreamId(headers)
  return id === undefined || id.length < 16 ? id : withoutCredentials(id.slice(0, 200), target)
}

/** The failure that an error answer of an upstream is. */
export async function upstreamError(answer: Answer, target: Target, model: string): Promise<GatewayError> {
  if (answer.status < 400)
    return new GatewayError({ kind: 'upstream-failed', message: 'The upstream answered with a redirect.' })
  const body = errorIn(await answer.text(LARGEST_ERROR))
  const reader = READERS[target.format.format]!
  const error = reader.error!({ status: answer.status, headers: flat(answer.headers), body })
  return new UpstreamFailure(error, target.native ? publicHeaders(answer.headers, target, model) : {})
}

/** Google wraps errors in a list when a stream was requested, and at its OpenAI-compatible endpoint. */
const LISTED = /^\s*\[([\s\S]*)\]\s*$/

function errorIn(body: string): JsonObject {
  const text = withoutByteOrderMark(body)
  return parseObject(text) ?? parseObject(LISTED.exec(text)?.[1] ?? '') ?? eventIn(text) ?? {}
}

/** The first JSON event, where an upstream sends its error as a stream. */
function eventIn(text: string): JsonObject | undefined {
  const parser = eventParser()
  const events = [...parser.push(Buffer.from(text)), ...parser.end()]
  return events
    .values()
    .map(({ data }) => parseObject(data))
    .find(body => body !== undefined)
}

/** What a trace has of an attempt at a target. */
export const tracedAttempt = ({ channel, format, upstreamModel }: Target): TracedAttempt => ({
  ...{ channel: channel.name, provider: channel.provider, format: format.format, model: upstreamModel },
})
