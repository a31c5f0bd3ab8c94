import type { ErrorKind, GatewayError } from '../../canonical/error.ts'
import { UpstreamFailure } from '../failures.ts'

/** Error kinds after which an upstream may still have accepted the submission. */
const UNCERTAIN_KINDS: ReadonlySet<ErrorKind> = new Set([
  'upstream-failed',
  'unreachable',
  'timed-out',
  'cancelled',
  'internal',
])

/** Error codes for a connection that was never established, so that nothing was sent. */
const CONNECTION_CODES: ReadonlySet<unknown> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
])

/** Status of an upstream's own failure. 502 and 504 come from proxies in front of the upstream. */
const SERVER_ERROR = 500

/**
 * Returns true if an upstream may have accepted a failed submission. It has not if it refused the submission or no
 * connection was established.
 */
export function mayBeAccepted(failure: GatewayError): boolean {
  const { kind, status } = failure.error
  if (!UNCERTAIN_KINDS.has(kind)) return false
  if (failure instanceof UpstreamFailure && kind === 'upstream-failed') return status !== SERVER_ERROR
  return !causeCodes(failure).some(code => CONNECTION_CODES.has(code))
}

/** Returns the error codes of all underlying causes. A connection attempt to several addresses has several causes. */
function causeCodes({ cause }: GatewayError): unknown[] {
  if (!(cause instanceof Error)) return []
  const errors = cause instanceof AggregateError ? [cause, ...cause.errors] : [cause, cause.cause]
  return errors.map(error => (error as { readonly code?: unknown } | undefined)?.code)
}
