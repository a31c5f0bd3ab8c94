import type { Caller, Reservation } from '../accounts/index.ts'
import type { CanonicalError, GatewayError } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { Loss, LossKinds } from '../canonical/loss.ts'
import { defined } from '../canonical/node.ts'
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
import type { Prices } from '../upstreams/catalogue/rates.ts'
import type { Target } from '../upstreams/router.ts'
import type { AffinitySource } from './affinity.ts'
import type { Call } from './call.ts'
import { gatewayFailure } from './failure-of.ts'
import type { FallbackOrigin } from './fallback-models.ts'
import type { RequestTrace } from './metrics/traces.ts'
import { type ExpectedUsage, estimatedUsage, lengthOf } from './uncounted.ts'

/** The outcome of a request: its usage row, and further facts for the log and the trace. */
export interface Outcome {
  readonly call: Call
  readonly row: UsageRow
  /** Usage charged to the limits; an estimate if the row says so, and undefined if it cannot even be estimated. */
  readonly spent: Usage | undefined
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
  usage: Usage | undefined
  /** Reservation of the request in the limits of its key. */
  reservation: Reservation | undefined
  /** Expected usage, or undefined until the request is read. */
  expected: ExpectedUsage | undefined
  /** Trace of the request, or undefined if requests are not traced. */
  trace: RequestTrace | undefined
  /** Requested model, and the reason why another one answers, or undefined if the requested model answers. */
  fallback: FallbackOrigin | undefined
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
  /** True if the whole answer was read, so that its cost is fully counted. */
  private isComplete = false
  /** Number of characters of the answer so far. */
  private writtenLength = 0
  /** Value of `writtenLength` at the upstream's last usage count. */
  private lengthAtCount = 0
  private hasMedia = false
  /** Thrown value, if a bug in the gateway ended the answer. */
  private fault: unknown
  private readonly call: Call
  private readonly at = Date.now()
  private readonly startTime = performance.now()

  constructor(call: Call) {
    this.call = call
  }

  recordRequest(request: CanonicalRequest): void {
    this.model = recordedModel(request.model)
    this.readAt = performance.now()
    this.stream = request.stream
    this.work = workOf(request)
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
    this.usage = undefined
    this.isComplete = false
    this.writtenLength = 0
    this.lengthAtCount = 0
    this.hasMedia = false
    this.finish = undefined
    this.error = undefined
    this.attemptFailure = undefined
  }

  /** Records why the current attempt failed. */
  recordAttemptFailure(failure: Failure): void {
    this.attemptFailure = failure
  }

  private addEarlierAttempt({ channel, upstreamModel }: Target, now: number): void {
    this.earlierAttempts ??= []
    if (this.earlierAttempts.length >= MAX_EARLIER_ATTEMPTS) return
    this.earlierAttempts.push({
      ...{ channel: channel.name, upstreamModel: recordedModel(upstreamModel) },
      ...{ sentAfter: tenths((this.sentAt ?? now) - this.startTime), endedAfter: tenths(now - this.startTime) },
      ...defined({ failure: this.attemptFailure && withShortMessage(this.attemptFailure) }),
    })
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
    if (event.type === 'part-delta') this.writtenLength += event.append.length
    else if (event.type === 'part-start') this.hasMedia ||= event.part.type === 'media'
    else if (event.type === 'usage') this.countUsage(event.usage)
    else if (event.type === 'candidate-end') this.finish ??= event.finish
    else if (event.type === 'error') this.error = event.error
    else if (event.type === 'result-end') this.isComplete = true
  }

  private countUsage(usage: Usage): void {
    this.usage = usage
    this.lengthAtCount = this.writtenLength
  }

  recordResult(result: CanonicalResult): void {
    this.recordFirstByte()
    // A token count is free.
    this.usage = this.work === 'count' ? undefined : result.usage
    if (result.usage === undefined || !isCounted(result.usage)) this.writtenLength = lengthOf(result)
    this.isComplete = true
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

  /** Kind of the error that ended the answer, if any. */
  get failure(): string | undefined {
    return this.error?.kind
  }

  /** Known usage: none for an unanswered request, or undefined if the upstream's count is incomplete. */
  private get spent(): Usage | undefined {
    const { status, usage, isComplete: ended, isOnlyError: answerless, sentAt: sent } = this
    if (ended && usage !== undefined && isCounted(usage)) return usage
    const hasNoAnswer = answerless || (status >= 400 && status !== CANCELLED)
    return hasNoAnswer || sent === undefined ? NO_USAGE : undefined
  }

  /** Estimated usage, or undefined if it cannot be estimated. */
  private get estimate(): Usage | undefined {
    const {
      work,
      usage: lastCount,
      writtenLength: written,
      lengthAtCount: writtenAtCount,
      expected,
      hasMedia,
      isComplete: ended,
      stream,
    } = this
    if (expected === undefined || hasMedia) return undefined
    const { input, output } = expected()
    const unreceived = stream || ended ? 0 : (this.reservation?.expectedAnswer(output) ?? 0)
    return estimatedUsage({
      work,
      lastCount,
      written,
      writtenSince: written - writtenAtCount,
      input,
      unreceived: unreceived,
    })
  }

  /** Returns the cost in nanodollars, or undefined if unknown. */
  private cost(prices: Prices, spent: Usage | undefined): number | undefined {
    const { target, model } = this
    if (spent === NO_USAGE) return 0
    if (spent === undefined || model === undefined) return undefined
    if (target === undefined) return 0
    const { channel, upstreamModel } = target
    return prices.cost({ model, upstreamModel, provider: channel.provider }, spent)
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
    const { call, spent: counted, error, fault, trace, restoredReasoning, seconds, fallback } = this
    const estimate = counted === undefined ? this.estimate : undefined
    const spent = counted ?? estimate
    const row = this.row(estimate ?? this.usage, this.cost(prices, spent), estimate !== undefined)
    return { call, row, spent, error, fault, trace, restoredReasoning, seconds, fallback }
  }
}

const NO_USAGE: Usage = {}

/** Maximum number of characters of the message of an earlier attempt. */
const MAX_EARLIER_MESSAGE = 200

const withShortMessage = ({ said, ...failure }: Failure): Failure => ({
  ...failure,
  ...defined({ said: said?.slice(0, MAX_EARLIER_MESSAGE) }),
})

/** Maximum number of earlier attempts in the row. */
const MAX_EARLIER_ATTEMPTS = 10

const timeAfter = (startTime: number, at: number | undefined): number | undefined =>
  at === undefined ? undefined : at - startTime
const tenths = (milliseconds: number): number => Math.round(milliseconds * 10) / 10
