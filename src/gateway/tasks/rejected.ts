import type { ErrorKind, GatewayError } from '../../canonical/error.ts'
import { UpstreamFailure } from '../failures.ts'

/** Kinds of failures after which an upstream may have accepted a submit all the same. */
const OPEN: ReadonlySet<ErrorKind> = new Set(['upstream-failed', 'unreachable', 'timed-out', 'cancelled', 'internal'])

/** How the HTTP client and the system name a connection that was never made: nothing was sent over it. */
const NOT_CONNECTED: ReadonlySet<unknown> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
  ...['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
])

/** An upstream that fails by itself answers 500; 502 and 504 are the answers of what stands before one. */
const FAILED = 500

/**
 * Whether it is open, after a failed submit, if the upstream accepted it. It did not where it answered with a refusal or
 * where there was no connection.
 */
export function becomesUnknown(failure: GatewayError): boolean {
  const { kind, status } = failure.error
  if (!OPEN.has(kind)) return false
  if (failure instanceof UpstreamFailure && kind === 'upstream-failed') return status !== FAILED
  return !causes(failure).some(code => NOT_CONNECTED.has(code))
}

/** The codes of what went wrong beneath; an attempt on several addresses has several. */
function causes({ cause }: GatewayError): unknown[] {
  if (!(cause instanceof Error)) return []
  const errors = cause instanceof AggregateError ? [cause, ...cause.errors] : [cause, cause.cause]
  return errors.map(one => (one as { readonly code?: unknown } | undefined)?.code)
}
