import { GatewayError } from '../canonical/error.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { workOf } from '../canonical/work.ts'
import { fitnessOf, formatFor } from '../formats/index.ts'
import type { Log } from '../log.ts'
import type { Target } from '../upstreams/router.ts'
import { GONE, mayRetry, moreUsefulFailure, toFailure } from './failures.ts'
import { isSpent } from './read-request.ts'
import type { Running } from './running.ts'
import { targetFailure } from './target-failure.ts'
import type { Attempt, Incoming } from './types.ts'

/** A target that completes by conversation, and the failure of the one that was to complete. */
interface Fallback {
  readonly target: Target
  readonly failure: unknown
}

/** The targets of one request in the order they are tried in, and the most useful of their failures. */
export class Failover {
  private readonly incoming: Incoming
  private readonly completes: boolean
  private readonly queue: Target[]
  private readonly running: Running
  private readonly log: Log
  private place = 0
  private fallback: Fallback | undefined
  private reported: GatewayError | undefined
  /** Media could not be fetched: for no other target is that tried again, but one may take the address itself. */
  isUnfetched = false

  /** @param targets the best first. */
  constructor(incoming: Incoming, targets: readonly Target[], running: Running, log: Log) {
    this.incoming = incoming
    this.completes = workOf(incoming.request) === 'completion'
    this.queue = [...targets]
    this.running = running
    this.log = log
  }

  /** The next target to try; undefined where none is left, or the gateway ended the request. */
  next(): Target | undefined {
    if (this.end !== undefined) return undefined
    const target = this.queue[this.place++]
    if (target === undefined || !this.completes || !isKnownToLack(target)) return target
    return completionFallback(target, this.incoming.request) ?? target
  }

  /** The failure of the request when no target is left. */
  get failure(): GatewayError {
    return this.end ?? this.reported ?? NO_TARGET
  }

  /** Why the gateway itself ended the request, if it did. */
  private get end(): GatewayError | undefined {
    return this.running.endOf(this.incoming.call)
  }

  /** The target answered: where it had to complete by conversation, that is tried first the next time. */
  rememberFallback({ target }: Attempt): void {
    if (this.fallback?.target === target) rememberLack(target)
  }

  /** The media of the request could not be had for a target. Throws where the caller left. */
  failedMedia(thrown: unknown, isFetched: boolean): void {
    if (this.incoming.call.reply.gone) throw GONE
    this.reported = toFailure(thrown)
    this.isUnfetched ||= isFetched
  }

  /**
   * A target failed: what failed rests and is logged, unless the upstream only lacks completions.
   *
   * @throws GatewayError where no other target may be tried.
   */
  failed(thrown: unknown, { target, channel, request }: Attempt): void {
    const { call, session, trailing, submission } = this.incoming
    const { begun, gone } = call.reply
    if (gone) throw GONE
    if (this.end !== undefined) return
    if (trailing?.fault !== undefined && !begun) throw trailing.fault
    if (!begun && this.fallsBack(thrown, target)) return
    const why = this.fallback?.target === target && isInexpressible(thrown) ? this.fallback.failure : thrown
    const failure = targetFailure(why, { target, channel, model: request.model, log: this.log })
    if (begun || isSpent(this.incoming) || submission?.isSpent === true) throw failure
    if (session?.forgot(target, failure.error) === true) this.queue.splice(this.place, 0, target)
    else if (!mayRetry(failure.error)) throw failure
    this.reported = moreUsefulFailure(this.reported, failure)
  }

  /** Puts the target that completes by conversation next, where the one that failed turned out to lack completions. */
  private fallsBack(failure: unknown, failed: Target): boolean {
    const target =
      this.completes && lacksCompletions(failure) ? completionFallback(failed, this.incoming.request) : undefined
    if (target === undefined) return false
    this.fallback = { target, failure }
    this.queue.splice(this.place, 0, target)
    return true
  }
}

/** A prompt that no conversation can express leaves the first failure standing. */
const isInexpressible = (thrown: unknown): boolean =>
  thrown instanceof GatewayError && thrown.error.kind === 'cannot-express'

const NO_TARGET = new GatewayError({ kind: 'overloaded', message: 'No channel can take this request.' })

/** How many models of a channel are remembered to have no completions. */
const MOST_LACKING = 1000

/** By channel, the models whose upstream has no completions for them. */
const lacking = new WeakMap<Target['channel'], Set<string>>()

/**
 * The target that completes a prompt by way of a conversation: vendors have completions for few of their models, and
 * refuse others only when a request comes (docs/wire/completions.md#prompts). Undefined for other work, and where the
 * channel converses in no format.
 */
function completionFallback(target: Target, request: CanonicalRequest): Target | undefined {
  if (workOf(request) !== 'completion' || !isMadeForCompletion(target.format.format)) return undefined
  const format = target.channel.formats.find(
    one => fitnessOf(one.format, 'completion', one.dialect) !== undefined && !isMadeForCompletion(one.format),
  )
  if (format === undefined) return undefined
  const own = formatFor(format, { model: target.upstreamModel, native: false })
  return { ...target, format: own, native: false }
}

const isMadeForCompletion = (format: string): boolean => fitnessOf(format, 'completion') === 'made-for-it'

const NO_COMPLETIONS = /\bchat model\b|\bnot (?:a |supported\b).{0,200}\bcompletions?\b/i

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

/** Whether an earlier request found that the target's upstream has no completions for the model. */
const isKnownToLack = ({ channel, upstreamModel }: Target): boolean => lacking.get(channel)?.has(upstreamModel) === true

/** Remembers that the target's upstream has no completions for the model. */
function rememberLack({ channel, upstreamModel }: Target): void {
  const models = lacking.getOrInsertComputed(channel, () => new Set())
  if (models.size < MOST_LACKING) models.add(upstreamModel)
}
