import type { Caller, Reservation } from '../accounts/index.ts'
import type { CanonicalError, GatewayError } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { Loss, LossKinds } from '../canonical/loss.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult, Finish, Usage } from '../canonical/result.ts'
import { type Work, workOf } from '../canonical/work.ts'
import { lossKindsOf, sumOfKinds, withoutAdditions } from '../egress/losses.ts'
import {
  CANCELLED,
  type EarlierAttempt,
  type Failure,
  isCounted,
  recordedModel,
  type UsageRow,
} from '../store/usage/row.ts'
import { type BilledFacts, requestedFacts } from '../upstreams/catalogue/billed-facts.ts'
import type { Prices } from '../upstreams/catalogue/rates.ts'
import type { Target } from '../upstreams/router.ts'
import type { AffinitySource } from './affinity.ts'
import type { PaidAnswer } from './answer-cost.ts'
import { AnswerMeter } from './answer-meter.ts'
import { type Billed, billOf } from './bill.ts'
import type { Call } from './call.ts'
import { earlierAttempt } from './earlier-attempt.ts'
import { gatewayFailure } from './failure-of.ts'
import type { FallbackOrigin } from './fallback-models.ts'
import type { RequestTrace } from './metrics/traces.ts'
import { type RequestMemoryHold, releaseWhenSent } from './request-memory.ts'
import type { ExpectedUsage } from './uncounted.ts'
import { billedAnswer, partsOf, UnsentAnswers } from './unsent-answers.ts'

/** The outcome of a request: its usage row, and further facts for the log and the trace. */
export interface Outcome {
  readonly call: Call
  readonly row: UsageRow
  /** Usage charged to the limits; an estimate if the row says so, and undefined if it cannot even be estimated. */
  readonly spent: Usage | undefined
  /** The answers that `spent` consists of. */
  readonly answers: readonly PaidAnswer[]
  readonly error: CanonicalError | undefined
  /** Thrown value, if a bug in the gateway ended the answer. */
  readonly fault: unknown
  readonly trace: RequestTrace | undefined
  /** Number of remembered reasoning parts that were restored in the request. */
  readonly restoredReasoning: number | undefined
  /** Length of the ordered video, in seconds. */
  readonly seconds: number | undefined
  /** Requested model and reason for the fallback, if another model had to answer. */
  readonly fallback?: FallbackOrigin | undefined
}

/** Gathers facts about one request while it runs. Holds no bodies and no credentials. */
export class Report {
  caller: Caller | undefined
  model: string | undefined
  stream = false
  target: Target | undefined
  attempts = 0
  /** HTTP status of the answer. 499 if the caller left first. */
  status = 200
  /** Reservation of the request in the limits of its key. */
  reservation: Reservation | undefined
  /** Memory of the request, or undefined if its body is small. */
  memory: RequestMemoryHold | undefined
  /** Expected usage, or undefined until the request is read. */
  expected: ExpectedUsage | undefined
  /** Trace of the request, or undefined if requests are not traced. */
  trace: RequestTrace | undefined
  /** Requested model, and the reason why another one answers, or undefined if the requested model answers. */
  fallback: FallbackOrigin | undefined
  /** True if the gateway itself ended the request while an upstream worked on it, which bills it all the same. */
  wasAborted = false
  /** Fact that identified the conversation, if it decided between channels or keys. */
  affinity: AffinitySource | undefined
  private finish: Finish | undefined
  private error: CanonicalError | undefined
  /** Failure of the current attempt, or undefined if it has not failed. */
  private attemptFailure: Failure | undefined
  private upstreamId: string | undefined
  private readAt: number | undefined
  private sentAt: number | undefined
  /** Time at which the head of the upstream's answer arrived. */
  private answeredAt: number | undefined
  /** Every attempt except the last. */
  private earlierAttempts: EarlierAttempt[] | undefined
  private firstByteAt: number | undefined
  private losses = 0
  private lossKinds: LossKinds | undefined
  private additions = 0
  private restoredReasoning: number | undefined
  /** Length of the ordered video, in seconds. */
  private seconds: number | undefined
  private work: Work = 'conversation'
  private isOnlyError = false
  /** Meter of the answer of the current target. */
  private meter = new AnswerMeter('conversation', {})
  /** Facts that the request states, on which its cost depends. */
  private requested: BilledFacts = {}
  private readonly unsent = new UnsentAnswers()
  /** Answers that the sent answer consists of, if it was put together from several. */
  private parts: readonly PaidAnswer[] | undefined
  /** Thrown value, if a bug in the gateway ended the answer. */
  private fault: unknown
  private readonly call: Call
  private readonly at = Date.now()
  private readonly startTime = performance.now()

  constructor(call: Call) {
    this.call = call
  }

  /** Releases the memory of the request when the caller has read the answer. */
  releaseMemory(): void {
    releaseWhenSent(this.memory, this.call.reply)
  }

  recordRequest(request: CanonicalRequest): void {
    this.model = recordedModel(request.model)
    this.readAt = performance.now()
    this.stream = request.stream
    this.work = workOf(request)
    this.requested = requestedFacts(request)
    this.meter = new AnswerMeter(this.work, this.requested)
  }

  /** Records that the request falls back to another model. */
  recordFallback(model: string, fallback: FallbackOrigin): void {
    this.model = recordedModel(model)
    this.fallback = fallback
  }

  /** Starts another attempt and discards the records of the previous target's answer. */
  startAttempt(target: Target): void {
    const now = performance.now()
    if (this.target !== undefined) this.addEarlierAttempt(this.target, now)
    this.target = target
    this.attempts++
    this.sentAt = now
    this.answeredAt = undefined
    this.upstreamId = undefined
    this.meter = new AnswerMeter(this.work, this.requested)
    this.parts = undefined
    this.finish = undefined
    this.error = undefined
    this.attemptFailure = undefined
  }

  /** Records why the current attempt failed. */
  recordAttemptFailure(failure: Failure): void {
    this.attemptFailure = failure
  }

  private addEarlierAttempt(target: Target, now: number): void {
    const { startTime, sentAt = now, attemptFailure } = this
    const times = { sentAfter: sentAt - startTime, endedAfter: now - startTime }
    this.earlierAttempts ??= []
    if (this.earlierAttempts.length < MAX_EARLIER_ATTEMPTS)
      this.earlierAttempts.push(earlierAttempt(target, times, attemptFailure))
  }

  /** Records that the head of the upstream's answer arrived. */
  recordAnswerHead(upstreamId: string | undefined): void {
    this.upstreamId = upstreamId
    this.answeredAt = performance.now()
  }

  /** Time from sending the request to the head of its answer, in milliseconds. */
  get answeredAfter(): number | undefined {
    const { sentAt: sent, answeredAt: answerBegan } = this
    return sent === undefined || answerBegan === undefined ? undefined : answerBegan - sent
  }

  /** Records how many remembered reasoning parts were restored in the request. */
  recordRestoredReasoning(count: number | undefined): void {
    this.restoredReasoning = count
  }

  /** Records what the headers of the answer report: losses and additions. */
  recordLosses(losses: readonly Loss[]): void {
    const lost = withoutAdditions(losses)
    this.losses = lost.length
    this.lossKinds = lossKindsOf(lost)
    this.additions = losses.length - this.losses
  }

  /** Records the time of the first byte sent to the caller. */
  recordFirstByte(): void {
    this.firstByteAt = performance.now()
  }

  /** Adds losses of a streamed answer that were found too late for its headers. */
  addAnswerLosses(losses: readonly Loss[]): void {
    this.losses += losses.length
    this.lossKinds = sumOfKinds(this.lossKinds, lossKindsOf(losses))
  }

  observe(event: CanonicalEvent): void {
    if (event.type === 'candidate-end') this.finish ??= event.finish
    else if (event.type === 'error') this.error = event.error
    else this.meter.observe(event)
  }

  /** Records the name that the upstream gives the model in its answer. */
  recordAnsweredModel(model: string | undefined): void {
    this.meter.model = model && recordedModel(model)
  }

  /**
   * Records the usage of a whole answer before it is sent, because the caller may not get it, or of a part of a streamed
   * answer behind which the model paused.
   */
  recordUnsent(result: CanonicalResult, isPaused?: true): void {
    const { target, model, work, requested } = this
    this.recordAnsweredModel(result.model)
    if (target === undefined || model === undefined || work === 'count') return
    const answer = billedAnswer(result, work)
    if (answer === undefined) return
    const facts = { ...answer.facts, otherModels: requested.otherModels, model: this.meter.model }
    this.unsent.add({ target, model, usage: answer.usage, facts, ...(isPaused && { isPaused }) })
    if (isPaused) this.meter = new AnswerMeter(work, requested)
  }

  /** Records that the caller gets the answer of the current target. */
  forgetUnsent(): void {
    if (this.target !== undefined) this.unsent.forget(this.target)
  }

  /**
   * Records a whole answer of the current target before it is sent as a stream. Its usage stays the same if the caller
   * leaves in the middle.
   */
  recordWhole(result: CanonicalResult): void {
    if (result.usage === undefined || !isCounted(result.usage)) this.forgetUnsent()
    else this.recordCompleteAnswer(result)
  }

  private recordCompleteAnswer(result: CanonicalResult): void {
    this.meter.recordResult(result)
    this.parts = this.target && this.meter.counted && partsOf(this.meter.counted, this.unsent.of(this.target))
    this.forgetUnsent()
  }

  recordResult(result: CanonicalResult): void {
    this.recordFirstByte()
    this.recordCompleteAnswer(result)
    this.finish = result.candidates[0]?.finish
    this.seconds = result.task?.seconds
    this.error = result.error
  }

  /** Records that a gateway fault ended an answer after part of it was sent. */
  recordFault({ error, cause }: GatewayError): void {
    this.error = error
    if (error.kind === 'internal') this.fault = cause
  }

  /** Records that the answer consists only of an error. */
  recordOnlyError(failure: GatewayError): void {
    this.recordFault(failure)
    this.isOnlyError = true
  }

  recordError(error: CanonicalError, status: number): void {
    this.error = error
    this.status = status
  }

  /** The upstream's latest count. */
  get usage(): Usage | undefined {
    return this.meter.usage
  }

  /** Kind of the error that ended the answer, if any. */
  get failure(): string | undefined {
    return this.error?.kind
  }

  /** True if an upstream worked on an answer, whose usage has to be paid for. */
  private get hasAnswer(): boolean {
    const { status, isOnlyError, sentAt, wasAborted } = this
    return !isOnlyError && (status < 400 || status === CANCELLED || wasAborted) && sentAt !== undefined
  }

  /** Builds the usage row. All rows have the same fields in the same order. Unknown fields are undefined. */
  private row(usage: Usage | undefined, cost: number | undefined, isEstimated: boolean): UsageRow {
    const { call, caller, target, startTime } = this
    return {
      id: call.id,
      at: this.at,
      door: call.path,
      format: call.format,
      stream: this.stream,
      attempts: this.attempts,
      status: this.status,
      losses: this.losses,
      lossKinds: this.lossKinds,
      additions: this.additions,
      duration: performance.now() - startTime,
      key: caller?.id,
      keyName: caller?.key,
      group: caller?.group,
      model: this.model,
      upstreamModel: target && recordedModel(target.upstreamModel),
      channel: target?.channel.name,
      affinity: target?.channel.affinity === false ? undefined : this.affinity,
      upstreamFormat: target?.format.format,
      error: this.error?.kind,
      failure:
        this.error && this.status !== CANCELLED ? (this.attemptFailure ?? gatewayFailure(this.error)) : undefined,
      finish: this.finish?.reason,
      upstreamId: this.upstreamId,
      input: usage?.input,
      output: usage?.output,
      cacheRead: usage?.cacheRead,
      cacheWrite: usage?.cacheWrite,
      inputAudio: usage?.inputBy?.audio,
      reasoning: usage?.reasoning,
      outputAudio: usage?.outputBy?.audio,
      cost,
      estimated: isEstimated || undefined,
      readAfter: timeAfter(startTime, this.readAt),
      sentAfter: timeAfter(startTime, this.sentAt),
      answeredAfter: timeAfter(startTime, this.answeredAt),
      firstByteAfter: timeAfter(startTime, this.firstByteAt),
      tries: this.earlierAttempts,
    }
  }

  /** Closes the report of a finished request. */
  outcome(prices: Prices): Outcome {
    const { call, error, fault, trace, restoredReasoning, seconds, fallback } = this
    const { usage, cost, isEstimated, spent, answers } = billOf(this.billed, prices)
    const row = this.row(usage, cost, isEstimated)
    return { call, row, spent, answers, error, fault, trace, restoredReasoning, seconds, fallback }
  }

  private get billed(): Billed {
    const { work, target, model, hasAnswer, stream, requested, expected, reservation, meter, unsent, parts } = this
    return { work, target, model, hasAnswer, stream, requested, expected, reservation, meter, unsent, parts }
  }
}

/** Maximum number of earlier attempts in the row. */
const MAX_EARLIER_ATTEMPTS = 10
const timeAfter = (startTime: number, at: number | undefined): number | undefined =>
  at === undefined ? undefined : at - startTime
