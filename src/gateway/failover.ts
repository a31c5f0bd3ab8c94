import { GatewayError } from '../canonical/error.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { workOf } from '../canonical/work.ts'
import type { Log } from '../log/index.ts'
import { fitnessOf, formatFor } from '../providers/index.ts'
import type { Candidate } from '../router.ts'
import { candidateFailure } from './candidate-failure.ts'
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

/** How many models of a channel are remembered to have no completions. */
const MOST_LACKING = 1000

/** By channel, the models whose upstream has no completions for them. */
const lacking = new WeakMap<Candidate['channel'], Set<string>>()

/**
 * The candidate that completes a prompt by way of a conversation: vendors have completions for few of their models, and
 * refuse others only when a request comes (FORMATS §3). Undefined for other work, and where the channel converses in no
 * format.
 */
function completionFallback(candidate: Candidate, request: CanonicalRequest): Candidate | undefined {
  if (workOf(request) !== 'completion' || !isMadeForCompletion(candidate.format.format)) return undefined
  const format = candidate.channel.formats.find(
    one => fitnessOf(one.format, 'completion', one.dialect) !== undefined && !isMadeForCompletion(one.format),
  )
  if (format === undefined) return undefined
  const own = formatFor(format, { model: candidate.upstreamModel, native: false })
  return { ...candidate, format: own, native: false }
}

const isMadeForCompletion = (format: string): boolean => fitnessOf(format, 'completion') === 'made-for-it'

const NO_COMPLETIONS = /\bchat model\b|\bnot (?:a |supported\b).*\bcompletions?\b/i

/** Whether an upstream's error means that it has no completions, or none for this model. */
function lacksCompletions(thrown: unknown): boolean {
  if (!(thrown instanceof GatewayError)) return false
  const { kind, message } = thrown.error
  return (
    kind === 'not-found' ||
    kind === 'method-not-allowed' ||
    (kind === 'invalid-request' && NO_COMPLETIONS.test(message))
  )
}

/** Whether an earlier request found that the candidate's upstream has no completions for the model. */
const isKnownToLack = ({ channel, upstreamModel }: Candidate): boolean =>
  lacking.get(channel)?.has(upstreamModel) === true

/** Remembers that the candidate's upstream has no completions for the model. */
function rememberLack({ channel, upstreamModel }: Candidate): void {
  const models = lacking.get(channel) ?? new Set<string>()
  if (models.size < MOST_LACKING) models.add(upstreamModel)
  lacking.set(channel, models)
}
