import type { CanonicalError, ErrorKind } from '../canonical/error.ts'
import type { Log } from '../log.ts'
import type { Channel, Headers } from '../upstreams/channel/index.ts'
import { exhaustedFor } from '../upstreams/channel/rate-limit-headers.ts'
import { LONGEST_REST } from '../upstreams/channel-health.ts'
import type { Target } from '../upstreams/router.ts'

/** Rest of a key of a pool after a failure. */
interface KeyRest {
  /** Whether the whole key rests, or only the model there. */
  readonly scope: 'key' | 'model'
  /** Length of the rest if the upstream states none, in seconds. */
  readonly seconds: number
  /** Whether the upstream refused the key for good, so that an operator must act. */
  readonly isRefusal?: true
}

/** Maximum rest of a key, in seconds. It is longer than that of a channel, because other keys take its requests. */
export const LONGEST_KEY_REST = LONGEST_REST / 1000

/** Failures that belong to the key. Another key of the same channel may succeed at once. */
const KEY_RESTS: { readonly [K in ErrorKind]?: KeyRest } = {
  'rate-limited': { scope: 'model', seconds: 5 },
  forbidden: { scope: 'model', seconds: 60 },
  'upstream-account': { scope: 'model', seconds: 60 },
  'out-of-credit': { scope: 'key', seconds: 600, isRefusal: true },
  unauthenticated: { scope: 'key', seconds: LONGEST_KEY_REST, isRefusal: true },
}

/** Failures that may belong to the key although nothing rests for them: a key without access to a model (404). */
const MAY_BE_KEYS: ReadonlySet<ErrorKind> = new Set(['not-found', 'cannot-express'])

/** Whether the next key of the same channel may succeed. */
export const isKeyFailure = ({ kind, retry }: CanonicalError): boolean =>
  KEY_RESTS[kind] !== undefined || MAY_BE_KEYS.has(kind) || retry === true

/**
 * Rests a key of a pool, and reports once that a key is refused for good. Returns scope and length for the log, or
 * undefined if the failure is not the key's.
 */
export function restKey(
  { resting }: Channel,
  { channel, upstreamModel }: Target,
  { kind, retryAfterSeconds }: CanonicalError,
  log: Log,
): { readonly rests: KeyRest['scope']; readonly seconds: number } | undefined {
  const row = KEY_RESTS[kind]
  if (row === undefined) return undefined
  const seconds = Math.min(retryAfterSeconds ?? row.seconds, LONGEST_KEY_REST)
  const now = Date.now()
  const until = now + seconds * 1000
  if (row.scope === 'model') resting.restModel(upstreamModel, until, now)
  else {
    if (row.isRefusal === true && resting.refusal === undefined)
      log.error({ channel: channel.name, key: channel.pooled?.ending, kind, seconds }, REFUSED)
    resting.restChannel(until, row.isRefusal === true ? kind : undefined)
  }
  return { rests: row.scope, seconds }
}

const REFUSED = 'an upstream refuses a key of a pool: replace the key or pay its account'

/** Adds the delay of a rate limit from the quota headers, if the upstream states no other delay. */
export function withQuotaDelay(error: CanonicalError, headers: Headers): CanonicalError {
  if (error.kind !== 'rate-limited' || error.retryAfterSeconds !== undefined) return error
  const seconds = exhaustedFor(headers, Date.now())
  return seconds === undefined ? error : { ...error, retryAfterSeconds: seconds }
}

/** Rests a key for a model if the headers of an answer state that its quota is exhausted. */
export function restExhausted({ resting }: Channel, { upstreamModel }: Target, headers: Headers): void {
  const now = Date.now()
  const seconds = exhaustedFor(headers, now)
  if (seconds !== undefined) resting.restModel(upstreamModel, now + Math.min(seconds, LONGEST_KEY_REST) * 1000, now)
}
