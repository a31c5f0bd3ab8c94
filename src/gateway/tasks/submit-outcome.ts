import type { ErrorKind, GatewayError } from '../../canonical/error.ts'
import { UpstreamFailure } from '../failures.ts'

/** Error kinds after which an upstream may nevertheless have accepted the submission. */
const UNCERTAIN: ReadonlySet<ErrorKind> = new Set([
  'upstream-failed',
  'unreachable',
  'timed-out',
  'cancelled',
  'internal',
])

/** Error codes for a connection that was never established, so that nothing was sent. */
const NOT_CONNECTED: ReadonlySet<unknown> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
])

/** Status of an upstream's own failure. 502 and 504 come from proxies in front of it. */
const SERVER_ERROR = 500

/**
 * Whether a failed submission may have been accepted. It was not if the upstream refused it or no connection was made.
 */
export function mayBeAccepted(failure: GatewayError): boolean {
  const { kind, status } = failure.error
  if (!UNCERTAIN.has(kind)) return false
  if (failure instanceof UpstreamFailure && kind === 'upstream-failed') return status !== SERVER_ERROR
  return !causes(failure).some(code => NOT_CONNECTED.has(code))
}

/** Returns the error codes of all underlying causes. A connection tried at several addresses has several. */
function causes({ cause }: GatewayError): unknown[] {
  if (!(cause instanceof Error)) return []
  const errors = cause instanceof AggregateError ? [cause, ...cause.errors] : [cause, cause.cause]
  return errors.map(one => (one as { readonly code?: unknown } | undefined)?.code)
}
