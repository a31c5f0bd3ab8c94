import type { Allowance, Caller } from '../access/index.ts'
import { type CanonicalError, ERRORS, type GatewayError } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult, Finish, Usage } from '../canonical/result.ts'
import type { Prices } from '../catalogue/rates.ts'
import { single } from '../channel/index.ts'
import type { Log } from '../log/index.ts'
import type { RequestTrace } from '../metrics/traces.ts'
import type { Candidate } from '../router.ts'
import { isCounted, recordedModel, type UsageRow, type UsageTry } from '../usage/row.ts'
import type { Call } from './call.ts'

/** Where a report goes when its request is over. */
export interface Recorder {
  readonly log: Log
  pricesFor(caller: Caller | undefined): Prices
  take(row: UsageRow): void
  /**
   * The caller's IP address, where it is of use in the log: of requests that came through proxies, and of those whose key
   * was refused.
   */
  address(message: Call['message'], status: number): string | undefined
}

/** What becomes of one request, gathered on its way and logged once: no bodies, no credentials. */
export class Report {
  caller: Caller | undefined
  model: string | undefined
  stream = false
  candidate: Candidate | undefined
  attempts = 0
  /** What the caller was answered with; 499 where it did not wait for an answer. */
  status = 200
  usage: Usage | undefined
  /** What the request takes of its key's limits. */
  allowance: Allowance | undefined
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
  private thoughts: number | undefined
  /** Of the video that was ordered. */
  private seconds: number | undefined
  private counting = false
  private answerless = false
  /** All of the answer was seen, and so all of what it cost. */
  private ended = false
  /** Characters of the answer that came so far. */
  private written = 0
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
    this.counting = request.output.count === true
  }

  /** Another candidate's turn: the answer of the one before it does not count. */
  tried(candidate: Candidate): void {
    const now = performance.now()
    if (this.candidate !== undefined) this.failedOver(this.candidate, now)
    this.candidate = candidate
    this.attempts++
    this.sent = now
    this.answerBegan = undefined
    this.upstreamId = undefined
    this.usage = undefined
    this.ended = false
    this.written = 0
    this.hasMedia = false
    this.finish = undefined
    this.error = undefined
  }

  private failedOver({ channel, upstreamModel }: Candidate, now: number): void {
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

  /** The first byte goes to the caller, with so many losses reported. */
  begun(losses: number): void {
    this.losses = losses
    this.firstByte = performance.now()
  }

  saw(event: CanonicalEvent): void {
    if (event.type === 'part-delta') this.written += event.append.length
    else if (event.type === 'part-start') this.hasMedia ||= event.part.type === 'media'
    else if (event.type === 'usage') this.usage = event.usage
    else if (event.type === 'candidate-end') this.finish ??= event.finish
    else if (event.type === 'error') this.error = event.error
    else if (event.type === 'result-end') this.ended = true
  }

  answered(result: CanonicalResult, losses: number): void {
    this.begun(losses)
    // To have tokens counted costs none.
    this.usage = this.counting ? undefined : result.usage
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

  /** What the request cost: nothing where it was not answered, undefined where tokens were not counted to the end. */
  private get spent(): Usage | undefined {
    const { status, usage, ended, answerless } = this
    if (ended && usage !== undefined && isCounted(usage)) return usage
    return answerless || (status >= 400 && status !== CLIENT_CLOSED) ? NOTHING : undefined
  }

  /** About how many tokens came of an answer whose end did not: callers could leave right before the count. */
  private get seen(): number {
    return this.hasMedia ? 0 : this.written / LETTERS
  }

  /** What it cost, in nanodollars; undefined where that is unknown. */
  private cost(recorder: Recorder, spent: Usage | undefined): number | undefined {
    const { candidate, model } = this
    if (spent === NOTHING) return 0
    if (spent === undefined || model === undefined) return undefined
    if (candidate === undefined) return 0
    const { channel, upstreamModel } = candidate
    return recorder.pricesFor(this.caller).cost({ model, upstreamModel, provider: channel.provider }, spent)
  }

  /** All rows have the same shape: what is unknown is undefined. */
  private row(cost: number | undefined): UsageRow {
    const { call, caller, candidate, usage, began } = this
    return {
      id: call.id,
      at: this.at,
      door: call.path,
      format: call.format,
      stream: this.stream,
      attempts: this.attempts,
      status: this.status,
      losses: this.losses,
      duration: performance.now() - began,
      key: caller?.id,
      keyName: caller?.key,
      group: caller?.group,
      model: this.model,
      upstreamModel: candidate && recordedModel(candidate.upstreamModel),
      channel: candidate?.channel.name,
      upstreamFormat: candidate?.format.format,
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
      readAfter: after(began, this.read),
      sentAfter: after(began, this.sent),
      answeredAfter: after(began, this.answerBegan),
      firstByteAfter: after(began, this.firstByte),
      tries: this.tries,
    }
  }

  /** The request is over: what it used counts against its key's limits, and it is recorded. */
  write(recorder: Recorder): void {
    const { log } = recorder
    const { spent } = this
    const cost = this.cost(recorder, spent)
    if (spent === undefined) this.allowance?.settleUncounted(this.seen)
    else this.allowance?.settle(spent, cost)
    const row = this.row(cost)
    recorder.take(row)
    this.trace?.end(row)
    const { call, candidate, error, usage, fault } = this
    if (fault !== undefined) log.error({ id: call.id, err: fault }, 'a fault of the gateway')
    const fields = {
      id: call.id,
      client_id: single(call.message.headers['x-request-id']).slice(0, 200) || undefined,
      upstream_id: this.upstreamId,
      address: recorder.address(call.message, this.status),
      key: this.caller?.key,
      door: call.path,
      model: this.model,
      stream: this.stream,
      channel: candidate?.channel.name,
      format: candidate?.format.format,
      upstream_model: row.upstreamModel,
      attempts: this.attempts,
      status: this.status,
      error: error?.kind,
      code: error?.code?.slice(0, LONGEST_CODE),
      upstream_status: error?.status,
      finish: this.finish?.reason,
      input_tokens: usage?.input,
      output_tokens: usage?.output,
      cached_tokens: usage?.cacheRead,
      video_seconds: this.seconds,
      losses: this.losses === 0 ? undefined : this.losses,
      thoughts_put_back: this.thoughts,
      first_byte_ms: since(this.began, this.firstByte),
      ms: tenths(row.duration),
    }
    if (error === undefined || ERRORS[error.kind].status < 500) log.info(fields, 'request')
    else log.warn(fields, 'request')
  }
}

/** A caller that did not wait for its answer: what it cost, it cost. */
const CLIENT_CLOSED = 499
const NOTHING: Usage = {}
/** Characters of an error's code in the log: it may be an upstream's. */
const LONGEST_CODE = 100
/** Characters of an answer for a token. */
const LETTERS = 4

/** Earlier attempts that are recorded. */
const MOST_TRIES = 10

const after = (began: number, at: number | undefined): number | undefined => (at === undefined ? undefined : at - began)
const tenths = (milliseconds: number): number => Math.round(milliseconds * 10) / 10

const since = (began: number, at: number | undefined): number | undefined =>
  at === undefined ? undefined : tenths(at - began)
