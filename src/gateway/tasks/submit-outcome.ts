import type { ErrorKind, GatewayError } from '../../canonical/error.ts'
import { NotSent } from '../../upstreams/channel/index.ts'
import { UpstreamFailure } from '../failures.ts'

/** Error kinds after which an upstream may still have accepted the submission. */
const UNCERTAIN_KINDS: ReadonlySet<ErrorKind> = new Set([
  'upstream-failed',
  'unreachable',
  'timed-out',
  'cancelled',
  'internal',
])

/** Status of an upstream's own failure. 502 and 504 come from proxies in front of the upstream. */
const SERVER_ERROR = 500

/**
 * Returns true if an upstream may have accepted a failed submission. It has not if it refused the submission or the
 * submission was never sent.
 */
export function mayBeAccepted(failure: GatewayError): boolean {
  const { kind, status } = failure.error
  if (!UNCERTAIN_KINDS.has(kind)) return false
  if (failure instanceof UpstreamFailure && kind === 'upstream-failed') return status !== SERVER_ERROR
  return !(failure instanceof NotSent)
}
