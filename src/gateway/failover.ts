import { GatewayError } from '../canonical/error.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { workOf } from '../canonical/work.ts'
import { fitnessOf, formatFor } from '../formats/index.ts'
import type { Log } from '../log.ts'
import type { Target } from '../upstreams/router.ts'
import { CALLER_GONE, mayRetry, moreUsefulFailure, toFailure } from './failures.ts'
import { isKeyFailure } from './key-rest.ts'
import { cannotBeResent } from './read-request.ts'
import type { Running } from './running.ts'
import { targetFailure } from './target-failure.ts'
import type { Attempt, Incoming } from './types.ts'

/** A target that answers a text completion with a conversation, and the failure of the original target. */
interface Fallback {
  readonly target: Target
  readonly failure: unknown
}

/** The targets of one request in the order in which they are tried, and the most useful of their failures. */
export class Failover {
  private readonly incoming: Incoming
  private readonly isCompletion: boolean
  private queue: Target[]
  private readonly running: Running
  private readonly log: Log
  private position = 0
  private fallback: Fallback | undefined
  private reportedFailure: GatewayError | undefined
  /**
   * True if the request's media could not be fetched. They are not fetched again for another target, but a target that
   * accepts URLs may still be tried.
   */
  hasUnfetchedMedia = false

  /** @param targets the targets, best first. */
  constructor(incoming: Incoming, targets: readonly Target[], running: Running, log: Log) {
    this.incoming = incoming
    this.isCompletion = workOf(incoming.request) === 'completion'
    this.queue = [...targets]
    this.running = running
    this.log = log
  }

  /** Returns the next target to try, or undefined if none remains or the gateway has ended the request. */
  next(): Target | undefined {
    if (this.gatewayError !== undefined) return undefined
    const target = this.queue[this.position++]
    if (target === undefined || !this.isCompletion || !isKnownToLackCompletions(target)) return target
    return completionFallback(target, this.incoming.request) ?? target
  }

  /** Failure to report when no target remains. */
  get failure(): GatewayError {
    return this.gatewayError ?? this.reportedFailure ?? NO_TARGET
  }

  /** Error with which the gateway itself ended the request, or undefined if the gateway did not end it. */
  private get gatewayError(): GatewayError | undefined {
    return this.running.endOf(this.incoming.call)
  }

  /**
   * Called after a successful attempt. Remembers a model without text completions, so that the next request is
   * immediately sent as a conversation.
   */
  rememberFallback({ target }: Attempt): void {
    if (this.fallback?.target === target) rememberMissingCompletions(target)
  }

  /**
   * Records that the media of the request could not be prepared for a target.
   *
   * @throws GatewayError `cancelled` if the caller left.
   */
  recordMediaFailure(thrown: unknown, isFetched: boolean): void {
    if (this.incoming.call.reply.gone) throw CALLER_GONE
    this.reportedFailure = toFailure(thrown)
    this.hasUnfetchedMedia ||= isFetched
  }

  /**
   * Records a target's failure: rests the channel or model and logs the failure, unless the upstream merely lacks
   * text completions.
   *
   * @throws GatewayError if no other target may be tried.
   */
  recordFailure(thrown: unknown, { target, channel, request }: Attempt): void {
    const { call, responseChain, trailing, submission } = this.incoming
    const { started, gone } = call.reply
    if (gone) throw CALLER_GONE
    if (this.gatewayError !== undefined) {
      this.incoming.report.wasAborted = toFailure(thrown).error.kind === 'cancelled'
      return
    }
    if (trailing?.fault !== undefined && !started) throw trailing.fault
    if (!started && this.queueFallback(thrown, target)) return
    const cause = this.fallback?.target === target && isInexpressible(thrown) ? this.fallback.failure : thrown
    const { report } = this.incoming
    const failure = targetFailure(cause, { target, channel, model: request.model, log: this.log, id: call.id, report })
    if (started || cannotBeResent(this.incoming) || submission?.forbidsFailover === true) throw failure
    if (responseChain?.recordForgotten(target, failure.error) === true) this.queue.splice(this.position, 0, target)
    else if (!mayRetry(failure.error)) throw failure
    if (target.channel.pooled !== undefined && !isKeyFailure(failure.error)) this.skipKeysOf(target)
    this.reportedFailure = moreUsefulFailure(this.reportedFailure, failure)
  }

  /** Drops the other keys of a channel whose upstream fails for all of its keys. */
  private skipKeysOf({ channel: { name } }: Target): void {
    this.queue = this.queue.filter(({ channel }, index) => index < this.position || channel.name !== name)
  }

  /**
   * Puts the same channel's conversation format next in the queue if the target turned out to lack text completions.
   */
  private queueFallback(failure: unknown, failed: Target): boolean {
    const target =
      this.isCompletion && lacksCompletions(failure) ? completionFallback(failed, this.incoming.request) : undefined
    if (target === undefined) return false
    this.fallback = { target, failure }
    this.queue.splice(this.position, 0, target)
    return true
  }
}

/** Returns true if a conversation cannot express the prompt. The original target's failure is then reported. */
const isInexpressible = (thrown: unknown): boolean =>
  thrown instanceof GatewayError && thrown.error.kind === 'cannot-express'

const NO_TARGET = new GatewayError({ kind: 'overloaded', message: 'No channel can take this request.' })

/** Maximum number of one channel's models that are remembered as lacking text completions. */
const MAX_REMEMBERED_MODELS = 1000

/** Models that have no text completions at their upstream, by channel. */
const modelsWithoutCompletions = new WeakMap<Target['channel'], Set<string>>()

/**
 * Returns the target that answers a text completion with a conversation. Vendors offer text completions for few of
 * their models and refuse the others only when requested (docs/wire/completions.md#prompts). Returns undefined for
 * other work, and if the channel has no format for conversations.
 */
function completionFallback(target: Target, request: CanonicalRequest): Target | undefined {
  if (workOf(request) !== 'completion' || !isMadeForCompletion(target.format.format)) return undefined
  const format = target.channel.formats.find(
    ({ format, dialect }) => fitnessOf(format, 'completion', dialect) !== undefined && !isMadeForCompletion(format),
  )
  if (format === undefined) return undefined
  const adapted = formatFor(format, { model: target.upstreamModel, native: false })
  return { ...target, format: adapted, native: false }
}

const isMadeForCompletion = (format: string): boolean => fitnessOf(format, 'completion') === 'primary'

const NO_COMPLETIONS = /\bchat model\b|\bnot (?:a |supported\b).{0,200}\bcompletions?\b/i

/** Returns true if an upstream's error means that it has no text completions at all, or none for this model. */
function lacksCompletions(thrown: unknown): boolean {
  if (!(thrown instanceof GatewayError)) return false
  const { kind, message } = thrown.error
  return (
    kind === 'not-found' ||
    kind === 'method-not-allowed' ||
    (kind === 'invalid-request' && NO_COMPLETIONS.test(message))
  )
}

/** Returns true if an earlier request found that the upstream has no text completions for the model. */
const isKnownToLackCompletions = ({ channel, upstreamModel }: Target): boolean =>
  modelsWithoutCompletions.get(channel)?.has(upstreamModel) === true

/** Remembers that the upstream has no text completions for the model. */
function rememberMissingCompletions({ channel, upstreamModel }: Target): void {
  const models = modelsWithoutCompletions.getOrInsertComputed(channel, () => new Set())
  if (models.size < MAX_REMEMBERED_MODELS) models.add(upstreamModel)
}
