import { type CanonicalError, type ErrorKind, GatewayError, GatewayFailure } from '../canonical/error.ts'
import { defined } from '../canonical/node.ts'
import type { Log } from '../log.ts'
import type { Failure } from '../store/usage/row.ts'
import type { Channel } from '../upstreams/channel/index.ts'
import type { Target } from '../upstreams/router.ts'
import { upstreamFailure } from './failure-of.ts'
import { headersOf, logMessage, toFailure, UpstreamFailure } from './failures.ts'
import { restKey } from './key-rest.ts'
import { publicError } from './public-answer.ts'
import { loggable } from './scrub.ts'

interface FailureContext {
  readonly target: Target
  readonly channel: Channel
  /** The caller's name for the model. */
  readonly model: string
  readonly log: Log
  /** Id of the request, if it has a usage row. */
  readonly id?: string | undefined
  /** The request's report, which records why the attempt failed. */
  readonly report?: { recordAttemptFailure(failure: Failure): void } | undefined
}

/**
 * Handles the failure of one target: rests the channel or model, logs the reason, and returns the error that the caller
 * may see.
 */
export function targetFailure(
  thrown: unknown,
  { target, channel, model, log, id, report }: FailureContext,
): GatewayError {
  const failure = toFailure(thrown)
  const { error, cause } = failure
  if (error.kind === 'internal' && cause !== undefined)
    return new GatewayError(error, { cause: loggable(cause, target) })
  if (failure instanceof GatewayFailure) return failure
  if (error.kind !== 'cannot-express') {
    const restFields =
      channel.parent === undefined ? rest(channel, target, error) : restPooled(channel, target, error, log)
    const said = logMessage(error, target)
    const why = upstreamFailure(failure, target)
    report?.recordAttemptFailure(why)
    const { kind, status } = error
    const { name, pooled } = target.channel
    const { upstreamModel: failedModel } = target
    const record = { at: Date.now(), kind, reason: why.reason, message: why.said ?? '', model: failedModel }
    channel.stats.failed({ ...record, ...defined({ status: why.status, key: pooled?.ending, request: id }) })
    const fields = {
      ...{ channel: name, key: pooled?.ending },
      model: target.upstreamModel,
      kind,
      reason: why.reason,
      status,
      ...restFields,
      said,
      err: loggable(cause, target),
    }
    log.warn(fields, 'a channel failed')
  }
  return new UpstreamFailure(publicError(error, target, model), headersOf(failure))
}

/** Part of a channel that rests after a failure. */
type Scope = 'model' | 'channel'

/**
 * Scope and default duration of a rest by kind of failure. A rate limit or fault of one model does not affect the
 * others, and a 403 may concern one model or feature. An upstream that is unreachable, is silent or rejects the key
 * fails for all its models (trap 100).
 */
const REST_RULES: { readonly [K in ErrorKind]?: readonly [Scope, seconds: number] } = {
  'rate-limited': ['model', 5],
  overloaded: ['model', 5],
  'upstream-failed': ['model', 5],
  forbidden: ['model', 60],
  'upstream-account': ['model', 60],
  unreachable: ['channel', 5],
  'timed-out': ['channel', 5],
  unauthenticated: ['channel', 60],
  'out-of-credit': ['channel', 60],
}

/** Maximum rest in seconds, even if the upstream states more. It may have meant only one request. */
export const MAX_REST_SECONDS = 60

/** Rests a key of a pool, or the channel around it if the key did not cause the failure. */
const restPooled = (channel: Channel, target: Target, error: CanonicalError, log: Log) =>
  restKey(channel, target, error, log) ?? rest(channel.parent ?? channel, target, error)

/** Rests the channel or the model, unless the gateway itself failed. Returns scope and duration for the log. */
function rest(
  { resting }: Channel,
  { upstreamModel }: Target,
  { kind, reason, retryAfterSeconds }: CanonicalError,
): { readonly rests?: Scope; readonly seconds?: number } {
  const [scope, defaultSeconds] = reason === 'gateway' ? [] : (REST_RULES[kind] ?? [])
  if (scope === undefined || defaultSeconds === undefined) return {}
  const seconds = Math.min(retryAfterSeconds ?? defaultSeconds, MAX_REST_SECONDS)
  const now = Date.now()
  const until = now + seconds * 1000
  if (scope === 'channel') resting.restChannel(until, { silent: kind === 'timed-out' })
  else resting.restModel(upstreamModel, until, now)
  return { rests: scope, seconds }
}
