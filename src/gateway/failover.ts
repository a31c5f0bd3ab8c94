import { GatewayError } from '../canonical/error.ts'
import { workOf } from '../canonical/work.ts'
import type { Log } from '../log/index.ts'
import type { Candidate } from '../router.ts'
import { candidateFailure } from './candidate-failure.ts'
import { completionFallback, isKnownToLack, lacksCompletions, rememberLack } from './completion-fallback.ts'
import { GONE, mayRetry, moreUsefulFailure, toFailure } from './failures.ts'
import { isSpent } from './read-request.ts'
import type { Running } from './running.ts'
import type { Attempt, Incoming } from './types.ts'

/** A candidate that completes by conversation, and the failure of the one that was to complete. */
interface Fallback {
  readonly candidate: Candidate
  readonly failure: unknown
}

/** The candidates of one request in the order they are tried in, and the most useful of their failures. */
export class Failover {
  private readonly incoming: Incoming
  private readonly completes: boolean
  private readonly queue: Candidate[]
  private readonly running: Running
  private readonly log: Log
  private place = 0
  private fallback: Fallback | undefined
  private reported: GatewayError | undefined
  /** Media could not be fetched: for no other candidate is that tried again, but one may take the address itself. */
  isUnfetched = false

  /** @param candidates the best first. */
  constructor(incoming: Incoming, candidates: readonly Candidate[], running: Running, log: Log) {
    this.incoming = incoming
    this.completes = workOf(incoming.request) === 'completion'
    this.queue = [...candidates]
    this.running = running
    this.log = log
  }

  /** The next candidate to try; undefined where none is left, or the gateway ended the request. */
  next(): Candidate | undefined {
    if (this.end !== undefined) return undefined
    const candidate = this.queue[this.place++]
    if (candidate === undefined || !this.completes || !isKnownToLack(candidate)) return candidate
    return completionFallback(candidate, this.incoming.request) ?? candidate
  }

  /** The failure of the request when no candidate is left. */
  get failure(): GatewayError {
    return this.end ?? this.reported ?? NO_CANDIDATE
  }

  /** Why the gateway itself ended the request, if it did. */
  private get end(): GatewayError | undefined {
    return this.running.endOf(this.incoming.call)
  }

  /** The candidate answered. */
  succeeded({ candidate }: Attempt): void {
    if (this.fallback?.candidate === candidate) rememberLack(candidate)
  }

  /** The media of the request could not be had for a candidate. Throws where the caller left. */
  failedMedia(thrown: unknown, isFetched: boolean): void {
    if (this.incoming.call.reply.gone) throw GONE
    this.reported = toFailure(thrown)
    this.isUnfetched ||= isFetched
  }

  /**
   * A candidate failed: what failed rests and is logged, unless the upstream only lacks completions.
   *
   * @throws GatewayError where no other candidate may be tried.
   */
  failed(thrown: unknown, { candidate, channel, request }: Attempt): void {
    const { call, session, trailing, submission } = this.incoming
    const { begun, gone } = call.reply
    if (gone) throw GONE
    if (this.end !== undefined) return
    if (trailing?.fault !== undefined && !begun) throw trailing.fault
    if (!begun && this.fallsBack(thrown, candidate)) return
    const why = this.fallback?.candidate === candidate && isInexpressible(thrown) ? this.fallback.failure : thrown
    const failure = candidateFailure(why, { candidate, channel, model: request.model, log: this.log })
    if (begun || isSpent(this.incoming) || submission?.isSpent === true) throw failure
    if (session?.forgot(candidate, failure.error) === true) this.queue.splice(this.place, 0, candidate)
    else if (!mayRetry(failure.error)) throw failure
    this.reported = moreUsefulFailure(this.reported, failure)
  }

  /** Puts the candidate that completes by conversation next, where the one that failed turned out to lack completions. */
  private fallsBack(failure: unknown, failed: Candidate): boolean {
    const candidate =
      this.completes && lacksCompletions(failure) ? completionFallback(failed, this.incoming.request) : undefined
    if (candidate === undefined) return false
    this.fallback = { candidate, failure }
    this.queue.splice(this.place, 0, candidate)
    return true
  }
}

/** A prompt that no conversation can express leaves the first failure standing. */
const isInexpressible = (thrown: unknown): boolean =>
  thrown instanceof GatewayError && thrown.error.kind === 'cannot-express'

const NO_CANDIDATE = new GatewayError({ kind: 'overloaded', message: 'No channel can take this request.' })
