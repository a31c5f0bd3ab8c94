import type { CanonicalError, ErrorKind } from '../canonical/error.ts'
import type { Channel } from '../channel/index.ts'
import type { Candidate } from '../router.ts'

/** What of a channel rests. */
type Scope = 'model' | 'channel'

/**
 * What a failure has rest, and for how many seconds where the upstream does not say. A limit or a fault of one model
 * does not concern the others, and a 403 may be about one model or feature; who cannot be reached, is silent or does not
 * know the gateway's key is so for all of them (trap 100).
 */
const RESTS: { readonly [K in ErrorKind]?: readonly [Scope, seconds: number] } = {
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

/** Seconds anything rests at most, whatever the upstream states: it may have meant one request alone. */
export const LONGEST = 60

/** Makes what failed rest, and gives its scope for the log. */
export function rest(
  { resting }: Channel,
  { upstreamModel }: Candidate,
  { kind, retryAfterSeconds }: CanonicalError,
): { readonly rests?: Scope; readonly seconds?: number } {
  const [scope, usual] = RESTS[kind] ?? []
  if (scope === undefined || usual === undefined) return {}
  const seconds = Math.min(retryAfterSeconds ?? usual, LONGEST)
  const now = Date.now()
  const until = now + seconds * 1000
  if (scope === 'channel') resting.restChannel(until)
  else resting.restModel(upstreamModel, until, now)
  return { rests: scope, seconds }
}
