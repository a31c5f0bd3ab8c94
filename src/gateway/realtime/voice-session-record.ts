import type { Caller, Reservation } from '../../accounts/index.ts'
import { type CanonicalError, ERRORS, GatewayError } from '../../canonical/error.ts'
import type { Loss } from '../../canonical/loss.ts'
import { defined, type Format } from '../../canonical/node.ts'
import { totalUsage, type Usage } from '../../canonical/result.ts'
import { type Failure, isCounted, tokenFields, type UsageRow, upstreamFields } from '../../store/usage/row.ts'
import type { Target } from '../../upstreams/router.ts'
import type { SessionRecord } from '../../voice/voice-session.ts'
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
  private usage: Usage | undefined
  private responses = 0
  /** Cost of all responses with a known price, in nanodollars. */
  private cost = 0
  private hasUnpriced = false
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
    const reservation = this.openReservations.shift() ?? this.reservations.forSpentUsage()
    if (usage === undefined) return reservation.leave()
    const cost = isCounted(usage) ? this.costOf(usage) : undefined
    if (isCounted(usage)) reservation.settle(usage, cost)
    else reservation.leave()
    this.usage = totalUsage(this.usage === undefined ? [usage] : [this.usage, usage])
    if (cost === undefined) this.hasUnpriced = true
    else this.cost += cost
  }

  private costOf(usage: Usage): number | undefined {
    const { target, facts } = this
    if (target === undefined) return undefined
    const { channel, upstreamModel } = target
    return this.recorder
      .pricesFor(facts.caller)
      .cost({ model: facts.model, upstreamModel, provider: channel.provider }, usage)
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
    // The requests of a cascade have their own usage rows.
    const isCascade = target?.emulated === true
    const usage = isCascade ? undefined : this.usage
    const cost = isCascade ? 0 : this.hasUnpriced ? undefined : this.cost
    const duration = performance.now() - startTime
    return {
      ...{ id: facts.id, at: Math.round(Date.now() - duration), door: facts.path, format: facts.format, stream: true },
      ...{ attempts: this.attempts, status, losses: this.reportedLosses.size, duration },
      ...{ key: facts.caller.id, keyName: facts.caller.key, group: facts.caller.group, model: facts.model },
      ...defined({
        ...upstreamFields(target),
        error: this.error?.kind,
        failure: this.error && (this.attemptFailure ?? gatewayFailure(this.error)),
        ...tokenFields(usage),
        cost,
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
