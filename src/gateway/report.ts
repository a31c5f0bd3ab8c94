import type { Allowance, Caller } from '../accounts/index.ts'
import type { CanonicalError, GatewayError } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { Loss } from '../canonical/loss.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult, Finish, Usage } from '../canonical/result.ts'
import { type Work, workOf } from '../canonical/work.ts'
import { withoutAdditions } from '../egress/losses.ts'
import { CANCELLED, isCounted, recordedModel, type UsageRow, type UsageTry } from '../store/usage/row.ts'
import type { Prices } from '../upstreams/catalogue/rates.ts'
import type { Target } from '../upstreams/router.ts'
import type { Call } from './call.ts'
import type { RequestTrace } from './metrics/traces.ts'
import { type Expected, estimated, lengthOf } from './uncounted.ts'

/** What became of a request that is over. */
export interface Outcome {
  readonly call: Call
  readonly row: UsageRow
  /** What counts against limits, an estimate where the row says so; undefined where nothing can be said of it. */
  readonly spent: Usage | undefined
  readonly error: CanonicalError | undefined
  /** What was thrown, where the answer was ended by a fault of ours. */
  readonly fault: unknown
  readonly trace: RequestTrace | undefined
  /** Thoughts that were put back into the request. */
  readonly thoughts: number | undefined
  /** Of the video that was ordered. */
  readonly seconds: number | undefined
}

/** What becomes of one request, gathered on its way: no bodies, no credentials. */
export class Report {
  caller: Caller | undefined
  model: string | undefined
  stream = false
  target: Target | undefined
  attempts = 0
  /** What the caller was answered with; 499 where it did not wait for an answer. */
  status = 200
  usage: Usage | undefined
  /** What the request takes of its key's limits. */
  allowance: Allowance | undefined
  /** What it is expected to use; undefined until it was read. */
  expected: Expected | undefined
  /** Undefined where no traces are made. */
  trace: RequestTrace | undefined
  private finish: Finish | undefined
  private error: CanonicalError | undefined
  private upstreamId: string | undefined
  private read: number | undefined
  private sent: number | undefined
  /** The head of the upstream's answer came. */
  private answerBegan: number | undefined
  /** The attempts before the last. */
  private tries: UsageTry[] | undefined
  private firstByte: number | undefined
  private losses = 0
  private additions = 0
  private thoughts: number | undefined
  /** Of the video that was ordered. */
  private seconds: number | undefined
  private work: Work = 'conversation'
  private answerless = false
  /** All of the answer was seen, and so all of what it cost. */
  private ended = false
  /** Characters of the answer that came so far, and those that had come when the upstream counted last. */
  private written = 0
  private writtenThen = 0
  private hasMedia = false
  /** What was thrown, where the answer was ended by a fault of ours. */
  private fault: unknown
  private readonly call: Call
  private readonly at = Date.now()
  private readonly began = performance.now()

  constructor(call: Call) {
    this.call = call
  }

  received(request: CanonicalRequest): void {
    this.model = recordedModel(request.model)
    this.read = performance.now()
    this.stream = request.stream
    this.work = workOf(request)
  }

  /** Another target's turn: the answer of the one before it does not count. */
  tried(target: Target): void {
    const now = performance.now()
    if (this.target !== undefined) this.failedOver(this.target, now)
    this.target = target
    this.attempts++
    this.sent = now
    this.answerBegan = undefined
    this.upstreamId = undefined
    this.usage = undefined
    this.ended = false
    this.written = 0
    this.writtenThen = 0
    this.hasMedia = false
    this.finish = undefined
    this.error = undefined
  }

  private failedOver({ channel, upstreamModel }: Target, now: number): void {
    this.tries ??= []
    if (this.tries.length >= MOST_TRIES) return
    this.tries.push({
      ...{ channel: channel.name, upstreamModel: recordedModel(upstreamModel) },
      ...{ sentAfter: tenths((this.sent ?? now) - this.began), endedAfter: tenths(now - this.began) },
    })
  }

  /** The upstream began to answer. */
  reached(upstreamId: string | undefined): void {
    this.upstreamId = upstreamId
    this.answerBegan = performance.now()
  }

  /** So many thoughts were put back into the request. */
  recalled(count: number | undefined): void {
    this.thoughts = count
  }

  /** What the headers of the answer report: losses, and what was added. */
  reported(losses: readonly Loss[]): void {
    this.losses = withoutAdditions(losses).length
    this.additions = losses.length - this.losses
  }

  /** The first byte goes to the caller. */
  begun(): void {
    this.firstByte = performance.now()
  }

  /** A stream lost so many things of the answer, beside what its headers report. */
  lostInAnswer(losses: number): void {
    this.losses += losses
  }

  saw(event: CanonicalEvent): void {
    if (event.type === 'part-delta') this.written += event.append.length
    else if (event.type === 'part-start') this.hasMedia ||= event.part.type === 'media'
    else if (event.type === 'usage') this.counted(event.usage)
    else if (event.type === 'candidate-end') this.finish ??= event.finish
    else if (event.type === 'error') this.error = event.error
    else if (event.type === 'result-end') this.ended = true
  }

  private counted(usage: Usage): void {
    this.usage = usage
    this.writtenThen = this.written
  }

  answered(result: CanonicalResult): void {
    this.begun()
    // To have tokens counted costs none.
    this.usage = this.work === 'count' ? undefined : result.usage
    if (result.usage === undefined || !isCounted(result.usage)) this.written = lengthOf(result)
    this.ended = true
    this.finish = result.candidates[0]?.finish
    this.seconds = result.task?.seconds
    this.error = result.error
  }

  /** A fault of ours ended the answer after some of it was sent. */
  broke({ error, cause }: GatewayError): void {
    this.error = error
    if (error.kind === 'internal') this.fault = cause
  }

  /** The answer is nothing but an error. */
  unanswered(failure: GatewayError): void {
    this.broke(failure)
    this.answerless = true
  }

  failed(error: CanonicalError, status: number): void {
    this.error = error
    this.status = status
  }

  /** The kind of the error that the answer ended with so far. */
  get failure(): string | undefined {
    return this.error?.kind
  }

  /** What the request used: nothing where it was not answered, undefined where tokens were not counted to the end. */
  private get spent(): Usage | undefined {
    const { status, usage, ended, answerless, sent } = this
    if (ended && usage !== undefined && isCounted(usage)) return usage
    const isUnanswered = answerless || (status >= 400 && status !== CANCELLED)
    return isUnanswered || sent === undefined ? NOTHING : undefined
  }

  /** About what it used; undefined where nothing can be said of it. */
  private get estimate(): Usage | undefined {
    const { work, usage: said, written, writtenThen, expected, hasMedia, ended, stream } = this
    if (expected === undefined || hasMedia) return undefined
    const { input, output } = expected()
    const unseen = stream || ended ? 0 : (this.allowance?.expectedAnswer(output) ?? 0)
    return estimated({ work, said, written, since: written - writtenThen, input, unseen })
  }

  /** What it cost, in nanodollars; undefined where that is unknown. */
  private cost(prices: Prices, spent: Usage | undefined): number | undefined {
    const { target, model } = this
    if (spent === NOTHING) return 0
    if (spent === undefined || model === undefined) return undefined
    if (target === undefined) return 0
    const { channel, upstreamModel } = target
    return prices.cost({ model, upstreamModel, provider: channel.provider }, spent)
  }

  /** All rows have the same shape: what is unknown is undefined. */
  private row(usage: Usage | undefined, cost: number | undefined, isEstimated: boolean): UsageRow {
    const { call, caller, target, began } = this
    return {
      id: call.id,
      at: this.at,
      door: call.path,
      format: call.format,
      stream: this.stream,
      attempts: this.attempts,
      status: this.status,
      losses: this.losses,
      additions: this.additions,
      duration: performance.now() - began,
      key: caller?.id,
      keyName: caller?.key,
      group: caller?.group,
      model: this.model,
      upstreamModel: target && recordedModel(target.upstreamModel),
      channel: target?.channel.name,
      upstreamFormat: target?.format.format,
      error: this.error?.kind,
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
      readAfter: after(began, this.read),
      sentAfter: after(began, this.sent),
      answeredAfter: after(began, this.answerBegan),
      firstByteAfter: after(began, this.firstByte),
      tries: this.tries,
    }
  }

  /** The request is over. */
  outcome(prices: Prices): Outcome {
    const { call, spent: counted, error, fault, trace, thoughts, seconds } = this
    const estimate = counted === undefined ? this.estimate : undefined
    const spent = counted ?? estimate
    const row = this.row(estimate ?? this.usage, this.cost(prices, spent), estimate !== undefined)
    return { call, row, spent, error, fault, trace, thoughts, seconds }
  }
}

const NOTHING: Usage = {}

/** Earlier attempts that are recorded. */
const MOST_TRIES = 10

const after = (began: number, at: number | undefined): number | undefined => (at === undefined ? undefined : at - began)
const tenths = (milliseconds: number): number => Math.round(milliseconds * 10) / 10
