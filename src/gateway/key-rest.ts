import type { CanonicalError, ErrorKind } from '../canonical/error.ts'
import { boundedDelay } from '../canonical/retry-after.ts'
import type { Log } from '../log.ts'
import type { Channel, Headers } from '../upstreams/channel/index.ts'
import { exhaustedSeconds } from '../upstreams/channel/rate-limit-headers.ts'
import { MAX_REST } from '../upstreams/channel-health.ts'
import type { Target } from '../upstreams/router.ts'

/** Rest of a key of a pool after a failure. */
interface KeyRest {
  /** Extent of the rest: the whole key, or only one model with this key. */
  readonly scope: 'key' | 'model'
  /** Duration of the rest if the upstream states none, in seconds. */
  readonly seconds: number
  /** True if the upstream refused the key permanently, so that an operator must act. */
  readonly isRefusal?: true
}

/** Maximum rest of a key, in seconds. Longer than a channel's, because other keys take over its requests. */
export const MAX_KEY_REST_SECONDS = MAX_REST / 1000

/** Rests after failures caused by the key. Another key of the same channel may succeed immediately. */
const KEY_RESTS: { readonly [K in ErrorKind]?: KeyRest } = {
  'rate-limited': { scope: 'model', seconds: 5 },
  forbidden: { scope: 'model', seconds: 60 },
  'upstream-account': { scope: 'model', seconds: 60 },
  'out-of-credit': { scope: 'key', seconds: 600, isRefusal: true },
  unauthenticated: { scope: 'key', seconds: MAX_KEY_REST_SECONDS, isRefusal: true },
}

/** Failures that the key may have caused but that rest nothing, such as a 404 for a key without access to a model. */
const POSSIBLE_KEY_ERRORS: ReadonlySet<ErrorKind> = new Set(['not-found', 'cannot-express'])

/** Returns true if the next key of the same channel may succeed. */
export const isKeyFailure = ({ kind, retry }: CanonicalError): boolean =>
  KEY_RESTS[kind] !== undefined || POSSIBLE_KEY_ERRORS.has(kind) || retry === true

/**
 * Rests a key of a pool, and logs once that the key is permanently refused. Returns scope and duration for the log, or
 * undefined if the key did not cause the failure.
 */
export function restKey(
  { resting }: Channel,
  { channel, upstreamModel }: Target,
  { kind, retryAfterSeconds }: CanonicalError,
  log: Log,
): { readonly rests: KeyRest['scope']; readonly seconds: number } | undefined {
  const keyRest = KEY_RESTS[kind]
  if (keyRest === undefined) return undefined
  const seconds = Math.min(retryAfterSeconds ?? keyRest.seconds, MAX_KEY_REST_SECONDS)
  const now = Date.now()
  const until = now + seconds * 1000
  if (keyRest.scope === 'model') resting.restModel(upstreamModel, until, now)
  else {
    if (keyRest.isRefusal === true && resting.refusal === undefined)
      log.error({ channel: channel.name, key: channel.pooled?.ending, kind, seconds }, KEY_REFUSED_MESSAGE)
    resting.restChannel(until, keyRest.isRefusal === true ? { refusal: kind } : {})
  }
  return { rests: keyRest.scope, seconds }
}

const KEY_REFUSED_MESSAGE = 'an upstream refuses a key of a pool: replace the key or top up its account'

/** Adds the delay of a rate limit from the quota headers, unless the upstream states another delay. */
export function withQuotaDelay(error: CanonicalError, headers: Headers): CanonicalError {
  if (error.kind !== 'rate-limited' || error.retryAfterSeconds !== undefined) return error
  const seconds = exhaustedSeconds(headers, Date.now())
  return seconds === undefined ? error : { ...error, retryAfterSeconds: boundedDelay(seconds) }
}

/** Rests a key for a model if the headers of an answer state that its quota is exhausted. */
export function restExhausted({ resting }: Channel, { upstreamModel }: Target, headers: Headers): void {
  const now = Date.now()
  const seconds = exhaustedSeconds(headers, now)
  if (seconds !== undefined) resting.restModel(upstreamModel, now + Math.min(seconds, MAX_KEY_REST_SECONDS) * 1000, now)
}
