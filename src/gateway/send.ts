import { GatewayError, upstreamFailed } from '../canonical/error.ts'
import { type JsonObject, parseObject } from '../canonical/node.ts'
import { withoutByteOrderMark } from '../canonical/text.ts'
import type { Reader } from '../ingress/reader.ts'
import { eventParser } from '../ingress/transport/event-parser.ts'
import { type Answer, type Exchange, passedTrace, upstreamId, withSingleValues } from '../upstreams/channel/index.ts'
import { refusalAdvice, refusesCredential } from '../upstreams/credentials/refusal.ts'
import type { Target } from '../upstreams/router.ts'
import type { Reply } from './call.ts'
import { answerFailure, CALLER_GONE, headersOf, UpstreamFailure } from './failures.ts'
import { restExhausted, withQuotaDelay } from './key-rest.ts'
import type { AttemptTrace, TracedAttempt } from './metrics/traces.ts'
import { type Prepared, prepare, refusalFor } from './prepare.ts'
import { readerOf } from './reader-of.ts'
import { publicHeaders, withoutCredentials } from './scrub.ts'
import type { Attempt } from './types.ts'

/** Maximum size of an error answer, in bytes. */
const MAX_ERROR_SIZE = 1024 * 1024

/** A request that the upstream accepted. The head of the answer has arrived, but its body has not been read. */
export class AcceptedRequest {
  /** Attempt with every field of its request, including fields after a file. */
  readonly attempt: Attempt
  readonly prepared: Prepared
  readonly exchange: Exchange
  readonly answer: Answer
  readonly reader: Reader
  private readonly started: StartedExchange
  private hasSucceeded = false

  constructor(attempt: Attempt, prepared: Prepared, started: StartedExchange) {
    this.attempt = attempt
    this.prepared = prepared
    this.exchange = started.exchange
    this.answer = started.answer
    this.reader = readerOf(attempt.target.format)
    this.started = started
  }

  /**
   * Records success: the model's cooldown ends, and the channel counts a request without an error. Also called if the
   * gateway itself ended the answer.
   */
  recordSuccess(): void {
    const { channel, target } = this.attempt
    channel.resting.wake(target.upstreamModel, this.started.sentAt)
    this.hasSucceeded = true
    channel.stats.succeeded()
    if (this.attempt.request.stream) this.measureLatency()
  }

  private measureLatency(): void {
    const { channel, target, incoming } = this.attempt
    const milliseconds = incoming.report.answeredAfter
    if (milliseconds !== undefined) channel.latencies.measured(target.upstreamModel, milliseconds)
  }

  /** Ends the exchange. Call this once the body has been read, or if it will not be read any further. */
  close(): void {
    const { isShared, trace } = this.started
    if (!isShared) this.attempt.incoming.call.reply.abortable = undefined
    this.exchange.discardRest()
    if (trace !== undefined) {
      const { usage, failure } = this.attempt.incoming.report
      trace.end(usage, failure ?? (this.hasSucceeded ? undefined : 'interrupted'))
    }
  }
}

/** An exchange whose answer has started. */
interface StartedExchange {
  readonly exchange: Exchange
  readonly answer: Answer
  /** True for one of several parallel requests. The code that emulates them handles a caller disconnecting. */
  readonly isShared: boolean
  /** Time at which the request was sent, in milliseconds of the monotonic clock. */
  readonly sentAt: number
  readonly trace: AttemptTrace | undefined
}

/**
 * Sends a written request and waits for the head of the answer. The caller must close the result.
 *
 * @param signal aborts the exchange, if it is one of several parallel requests.
 * @throws GatewayError for an error answer, and if there is no answer.
 */
export async function send(attempt: Attempt, prepared: Prepared, signal?: AbortSignal): Promise<AcceptedRequest> {
  const { target, channel, request } = attempt
  const { call, report, trailing, submission, capture } = attempt.incoming
  if (signal === undefined) report.startAttempt(target)
  const ready = channel.ready()
  if (ready !== undefined) await (submission === undefined ? whileWanted(ready, call.reply, signal) : ready)
  const capturedExchange = capture?.addExchange(attempt, prepared)
  const trace = report.trace?.attempt(tracedAttempt(target))
  const { headers } = call.message
  const traceHeaders = trace?.headers ?? (headers['traceparent'] === undefined ? undefined : passedTrace(headers))
  const sentAt = performance.now()
  const endTrial = channel.resting.beginTrial(Date.now())
  const { currentCredential } = channel
  const exchange = channel.send({
    format: target.format,
    wire: prepared.wire,
    from: headers,
    trace: traceHeaders,
    stream: request.stream,
    single: submission !== undefined,
    lateParts: trailing && (() => trailing.parts(prepared, target)),
  })
  if (signal?.aborted === true) exchange.abort()
  else if (signal !== undefined) signal.addEventListener('abort', () => exchange.abort(), { once: true })
  // A submission is completed even if the caller leaves.
  else if (submission === undefined) call.reply.abortable = exchange
  try {
    const answer =
      capturedExchange === undefined ? await exchange.answer : capturedExchange.recordAnswer(await exchange.answer)
    endTrial?.(true)
    report.recordAnswerHead(idOf(answer, target))
    trace?.answered(answer.status)
    if (answer.status < 200 || answer.status > 299) {
      const failure = await upstreamError(answer, target, request.model)
      const isReplaced = refusesCredential(answer) && channel.currentCredential !== currentCredential
      throw isReplaced ? outdatedCredential(failure) : failure
    }
    // The headers state the quota as of now. A stream may end long after its reset.
    if (channel.parent !== undefined) restExhausted(channel, target, answer.headers)
    const started: StartedExchange = { exchange, answer, isShared: signal !== undefined, sentAt, trace }
    return trailing?.request === undefined
      ? new AcceptedRequest(attempt, prepared, started)
      : new AcceptedRequest(...withAllFields(attempt, trailing.request), started)
  } catch (thrown) {
    endTrial?.(false)
    if (signal === undefined) call.reply.abortable = undefined
    exchange.discardRest()
    const failure = answerFailure(thrown)
    if (failure instanceof GatewayError) capturedExchange?.recordFailure(failure.error)
    trace?.end(undefined, failure instanceof GatewayError ? failure.error.kind : 'internal')
    throw failure
  }
}

/**
 * Waits for a credential, but no longer than the request is wanted: its caller may leave, the gateway may end it, and
 * one of several parallel requests may fail.
 *
 * @throws GatewayError if the credential cannot be obtained or the request is no longer wanted.
 */
async function whileWanted(ready: Promise<void>, reply: Reply, signal: AbortSignal | undefined): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>()
  const end = (why?: unknown): void => reject(why instanceof GatewayError ? why : CALLER_GONE)
  const onAbort = (): void => end(signal?.reason)
  if (signal === undefined) reply.abortable = { abort: end }
  else if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  try {
    await Promise.race([ready, promise])
  } finally {
    if (signal === undefined) reply.abortable = undefined
    else signal.removeEventListener('abort', onAbort)
  }
}

/** Returns the attempt with all fields of its request, for reading and writing the answer. */
function withAllFields(attempt: Attempt, request: Attempt['request']): [Attempt, Prepared] {
  const prepared = prepare(request, attempt.target)
  const refusal = refusalFor(request, prepared.losses, attempt.incoming.onLoss)
  if (refusal !== undefined) throw refusal
  return [{ ...attempt, request }, prepared]
}

/**
 * Returns the upstream's request id, for logging. Credentials are removed from ids that are long enough to hold one.
 */
function idOf({ headers }: Answer, target: Target): string | undefined {
  const id = upstreamId(headers)
  return id === undefined || id.length < 16 ? id : withoutCredentials(id.slice(0, 200), target)
}

/** Reads an upstream's error answer as a failure. */
export async function upstreamError(answer: Answer, target: Target, model: string): Promise<GatewayError> {
  if (answer.status < 400) return new GatewayError(upstreamFailed('The upstream answered with a redirect.'))
  const body = errorIn(await answer.text(MAX_ERROR_SIZE))
  const reader = readerOf(target.format)
  const read = reader.error!({ status: answer.status, headers: withSingleValues(answer.headers), body })
  const errorWithDelay = target.channel.pooled === undefined ? read : withQuotaDelay(read, answer.headers)
  const error = { ...errorWithDelay, message: withAdvice(errorWithDelay.message, answer), reason: 'status' } as const
  return new UpstreamFailure(error, target.native ? publicHeaders(answer.headers, target, model) : {})
}

/** Delay after which a new credential is tried, in seconds. */
const RENEWAL_DELAY = 1

/**
 * Returns the error for a refused token or refused keys that the next request replaces. It passes by itself, unlike the
 * refusal of an account, which rests the channel for a minute and tells clients not to retry.
 */
const outdatedCredential = (failure: GatewayError): GatewayError =>
  new UpstreamFailure(
    { ...failure.error, kind: 'upstream-account', retryAfterSeconds: RENEWAL_DELAY },
    headersOf(failure),
  )

/** Adds advice for operators on a refused credential. Callers see neither message nor advice (`publicError`). */
function withAdvice(message: string, answer: Answer): string {
  const advice = refusalAdvice(answer, message)
  return advice === undefined ? message : `${message.trim()} ${advice}`
}

/**
 * Matches an error inside a list, as Google sends if a stream was requested, and at its OpenAI-compatible endpoint.
 */
const LISTED_ERROR = /^\s*\[([\s\S]*)\]\s*$/

function errorIn(body: string): JsonObject {
  const text = withoutByteOrderMark(body)
  return parseObject(text) ?? parseObject(LISTED_ERROR.exec(text)?.[1] ?? '') ?? eventIn(text) ?? {}
}

/** Returns the first JSON event, for an upstream that sends its error as a stream. */
function eventIn(text: string): JsonObject | undefined {
  const parser = eventParser()
  const events = [...parser.push(Buffer.from(text)), ...parser.end()]
  return events
    .values()
    .map(({ data }) => parseObject(data))
    .find(body => body !== undefined)
}

/** Returns the fields of a target that a trace records. */
export const tracedAttempt = ({ channel, format, upstreamModel }: Target): TracedAttempt => ({
  ...{ channel: channel.name, provider: channel.provider, format: format.format, model: upstreamModel },
})
