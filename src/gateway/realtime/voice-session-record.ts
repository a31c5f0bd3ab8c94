import type { Caller, Reservation } from '../../accounts/index.ts'
import { type CanonicalError, ERRORS, GatewayError } from '../../canonical/error.ts'
import type { Loss } from '../../canonical/loss.ts'
import { defined, type Format } from '../../canonical/node.ts'
import { totalUsage, type Usage } from '../../canonical/result.ts'
import { type Failure, isCounted, tokenFields, type UsageRow, upstreamFields } from '../../store/usage/row.ts'
import { type BilledFacts, plausibleSeconds } from '../../upstreams/catalogue/billed-facts.ts'
import type { Target } from '../../upstreams/router.ts'
import type { SessionRecord, TranscriptionModel } from '../../voice/voice-session.ts'
import { gatewayFailure } from '../failure-of.ts'
import type { RequestTrace } from '../metrics/traces.ts'
import type { Recorder } from '../usage-recorder.ts'

/** Facts about a voice session that are known when it is requested. */
export interface VoiceSessionFacts {
  readonly id: string
  readonly clientId: string | undefined
  /** The caller's IP address, if it should be logged. */
  readonly address: string | undefined
  readonly path: string
  /** The caller's format. */
  readonly format: Format
  readonly caller: Caller
  readonly model: string
}

/** Creates reservations in the limits of a session's key. */
export interface Reservations {
  /**
   * Creates a reservation for one more response.
   *
   * @throws GatewayError if the key has been revoked in the meantime.
   */
  forNextResponse(): Reservation
  /** Creates a reservation for usage that has already occurred. */
  forSpentUsage(): Reservation
}

/**
 * Maximum number of responses that wait for their usage. Beyond it, the oldest reservation is dropped. Also the maximum
 * number of losses in the log line.
 */
const MAX_ENTRIES = 64

/** Usage that is billed by its length. */
const NO_TOKENS: Usage = {}
/** Usage by which it is found out whether tokens have a price. */
const SOME_TOKENS: Usage = { input: 1, output: 1 }

/** Expected usage of the check whether a budget is spent. */
const NOTHING_EXPECTED = { input: 0, output: 0 }

/** HTTP status that is recorded for a session that was opened. */
const SWITCHING_PROTOCOLS = 101

/** Records one voice session: charges its responses to the key, and finally writes one usage row and one log line. */
export class VoiceSessionRecord implements SessionRecord {
  target: Target | undefined
  attempts = 0
  /** Trace of the session, or undefined if sessions are not traced. */
  trace: RequestTrace | undefined
  private readonly facts: VoiceSessionFacts
  private readonly recorder: Recorder
  private readonly reservations: Reservations
  private readonly onEnd: () => void
  private readonly openReservations: Reservation[] = []
  private readonly reportedLosses = new Set<string>()
  private readonly startTime = performance.now()
  /** Time until which the connection was charged, by `performance.now()`. */
  private chargedUntil = this.startTime
  private usage: Usage | undefined
  private responses = 0
  /** Cost of all responses with a known price, in nanodollars. */
  private cost = 0
  /** True if the price of any usage is unknown. */
  private hasUnpriced = false
  /** True if the usage of a response had to be estimated. */
  private isEstimated = false
  private error: CanonicalError | undefined
  /** Reason why the last target could not open the session. */
  private attemptFailure: Failure | undefined
  /** Error with which responses are refused until `refusedUntil`. */
  private refusal: GatewayError | undefined
  /** End of the refusal, by `performance.now()`. */
  private refusedUntil = 0

  constructor(facts: VoiceSessionFacts, recorder: Recorder, reservations: Reservations, onEnd: () => void) {
    this.facts = facts
    this.recorder = recorder
    this.reservations = reservations
    this.onEnd = onEnd
  }

  admit(): void {
    if (this.refusal !== undefined && performance.now() < this.refusedUntil) throw this.refusal
    const reservation = this.reservations.forNextResponse()
    const entering = reservation.enter(false)
    if (entering !== undefined) void entering.catch(thrown => this.refuseTemporarily(thrown))
    this.responses++
    this.openReservations.push(reservation)
    if (this.openReservations.length > MAX_ENTRIES) this.openReservations.shift()
  }

  /** Refuses responses for a while, because another process reported that the limits are exhausted. */
  private refuseTemporarily(thrown: unknown): void {
    if (!(thrown instanceof GatewayError)) return
    this.refusal = thrown
    this.refusedUntil = performance.now() + 1000 * (thrown.error.retryAfterSeconds ?? 1)
  }

  recordUsage(usage: Usage | undefined): void {
    const reservation = this.openReservations.shift()
    if (usage === undefined) reservation?.leave()
    else this.charge(usage, undefined, reservation, this.takeTime())
  }

  recordEstimate(usage: Usage): void {
    this.isEstimated ||= !this.isCascade
    this.charge(usage, undefined, this.openReservations.shift(), this.takeTime())
  }

  recordTranscription(
    usage: Usage | undefined,
    model: TranscriptionModel | undefined,
    length?: number,
    isIncluded = false,
  ): void {
    const seconds = plausibleSeconds(length)
    if (usage !== undefined) this.charge(usage, model, undefined, { seconds })
    else if (isIncluded && this.isPricedByTokens(model)) return
    else if (seconds === undefined) this.hasUnpriced = true
    else this.charge(NO_TOKENS, model, undefined, { seconds })
  }

  /** Returns true unless a model is billed by the length of the speech alone. */
  private isPricedByTokens(model: TranscriptionModel | undefined): boolean {
    const isByTokens = this.costOf(SOME_TOKENS, model, undefined) !== undefined
    return isByTokens || this.costOf(NO_TOKENS, model, { seconds: 1 }) === undefined
  }

  checkBudget(onSpent: (refusal: CanonicalError) => void): void {
    // The requests of a cascade are admitted one by one.
    if (this.isCascade) return
    this.chargeRest()
    const refuse = (thrown: unknown): void => {
      if (thrown instanceof GatewayError) onSpent(thrown.error)
    }
    try {
      void this.reservations
        .forSpentUsage()
        .reserve(() => NOTHING_EXPECTED)
        ?.catch(refuse)
    } catch (thrown) {
      refuse(thrown)
    }
  }

  /** Returns the time of the connection since the last charge, which some vendors bill instead of tokens. */
  private takeTime(): BilledFacts {
    const now = performance.now()
    const sessionSeconds = (now - this.chargedUntil) / 1000
    this.chargedUntil = now
    return { sessionSeconds }
  }

  /** Charges the time since the last charge, if the session is billed by its time. */
  private chargeRest(): void {
    const isByTime = this.costOf(NO_TOKENS, undefined, { sessionSeconds: 1 }) !== undefined
    if (isByTime && this.costOf(SOME_TOKENS, undefined, undefined) === undefined)
      this.charge(NO_TOKENS, undefined, undefined, this.takeTime())
  }

  /** Charges usage to the key at the prices of a model, by default the session's. */
  private charge(
    usage: Usage,
    model: TranscriptionModel | undefined,
    reserved: Reservation | undefined,
    facts?: BilledFacts,
  ): void {
    this.usage = totalUsage(this.usage === undefined ? [usage] : [this.usage, usage])
    if (this.isCascade) return reserved?.leave()
    const reservation = reserved ?? this.reservations.forSpentUsage()
    const isBilled = usage === NO_TOKENS || isCounted(usage)
    const cost = isBilled ? this.costOf(usage, model, facts) : undefined
    if (isBilled) reservation.settle(usage, cost, usage !== NO_TOKENS)
    else reservation.leave()
    if (cost === undefined) this.hasUnpriced = true
    else this.cost += cost
  }

  private costOf(
    usage: Usage,
    model: TranscriptionModel | undefined,
    billed: BilledFacts | undefined,
  ): number | undefined {
    const { target, facts } = this
    if (target === undefined) return undefined
    const { channel, upstreamModel } = target
    return this.recorder
      .pricesFor(facts.caller)
      .cost({ model: facts.model, upstreamModel, ...model, provider: channel.provider }, usage, billed)
  }

  /** True if the session is built from separate requests, which are charged and recorded one by one. */
  private get isCascade(): boolean {
    return this.target?.emulated === true
  }

  recordLosses(losses: readonly Loss[]): void {
    for (const { path, reason, restored } of losses)
      if (restored !== true && this.reportedLosses.size < MAX_ENTRIES)
        this.reportedLosses.add(`${path.join('.')} ${reason}`)
  }

  recordAttemptFailure(failure: Failure): void {
    this.attemptFailure = failure
  }

  recordError(error: CanonicalError): void {
    this.error = error
  }

  ended(code: number): void {
    if (!this.isCascade) this.chargeRest()
    this.write({ close_code: code }, SWITCHING_PROTOCOLS)
    this.onEnd()
  }

  /** Records a session that could not be opened. */
  recordRefusal(error: CanonicalError): void {
    this.error = error
    const status = error.httpStatus ?? ERRORS[error.kind].status
    this.write({ status }, status)
    this.onEnd()
  }

  private row(status: number): UsageRow {
    const { facts, target, startTime } = this
    const isUnknown = this.hasUnpriced && this.cost === 0 && !this.isCascade
    // A cost without the parts whose price is unknown is better than none.
    const isEstimated = this.isEstimated || (this.hasUnpriced && !isUnknown && !this.isCascade)
    const cost = isUnknown ? undefined : this.cost
    const duration = performance.now() - startTime
    return {
      ...{ id: facts.id, at: Math.round(Date.now() - duration), door: facts.path, format: facts.format, stream: true },
      ...{ attempts: this.attempts, status, losses: this.reportedLosses.size, duration },
      ...{ key: facts.caller.id, keyName: facts.caller.key, group: facts.caller.group, model: facts.model },
      ...defined({
        ...upstreamFields(target),
        error: this.error?.kind,
        failure: this.error && (this.attemptFailure ?? gatewayFailure(this.error)),
        // The requests of a cascade have their own usage rows.
        ...tokenFields(this.isCascade ? undefined : this.usage),
        cost,
        estimated: isEstimated || undefined,
      }),
    }
  }

  private write(result: object, status: number): void {
    const row = this.row(status)
    this.recorder.take(row)
    this.trace?.end(row)
    const { facts, target, usage, error, reportedLosses } = this
    const fields = {
      id: facts.id,
      client_id: facts.clientId,
      address: facts.address,
      key: facts.caller.key,
      door: facts.path,
      model: facts.model,
      channel: target?.channel.name,
      format: target?.format.format,
      upstream_model: target?.upstreamModel,
      attempts: this.attempts,
      ...result,
      error: error?.kind,
      responses: this.responses,
      input_tokens: usage?.input,
      output_tokens: usage?.output,
      cached_tokens: usage?.cacheRead,
      losses: reportedLosses.size === 0 ? undefined : [...reportedLosses],
      ms: Math.round(performance.now() - this.startTime),
    }
    const { log } = this.recorder
    if (error === undefined || ERRORS[error.kind].status < 500) log.info(fields, 'session')
    else log.warn(fields, 'session')
  }
}
