import { type FailureReason, GatewayError } from '../../canonical/error.ts'

/** Codes of errors before the start of an answer, by reason. Node's TLS codes are OpenSSL's names of the fault. */
const REASONS: readonly (readonly [reason: FailureReason, code: RegExp])[] = [
  // The HTTP client waits for headers of a tunnel only: those of answers are awaited by the watchdog.
  ['connect-timeout', /^(?:UND_ERR_(?:CONNECT|HEADERS)_TIMEOUT|ETIMEDOUT)$/],
  ['refused', /^ECONNREFUSED$/],
  ['dns', /^(?:ENOTFOUND|EAI_\w+|ENODATA|ESERVFAIL|EREFUSED)$/],
  ['unroutable', /^(?:EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN|ENETDOWN)$/],
  // The machine has no descriptor or memory left for a connection, which is no fault of the upstream.
  ['gateway', /^(?:EMFILE|ENFILE|ENOBUFS|ENOMEM)$/],
  ['tls', /^(?:ERR_(?:TLS|SSL)_\w+|EPROTO|CERT_\w+|CRL_\w+|\w*_CERT\w*|UNABLE_TO_\w+|INVALID_CA|HOSTNAME_MISMATCH)$/],
]

/** Faults of certificates by OpenSSL's code. */
const CERTIFICATE_FAULTS: { readonly [code: string]: string } = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  CERT_REVOKED: 'its certificate was revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is signed by an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate is signed by an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is signed by an unknown authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host name',
}

/** The failure of a request that was never written to a connection, so that the upstream cannot have acted on it. */
export class NotSent extends GatewayError {}

/**
 * Returns the error for an upstream that could not be reached. Its message reveals neither the reason nor an address.
 *
 * @param wasSent false if no part of the request was written to a connection.
 */
export function unreachable(cause: Error, wasSent = true): GatewayError {
  const code = codeOf(cause)
  const reason = REASONS.find(([, pattern]) => pattern.test(code))?.[0] ?? 'reset'
  const isTimeout = reason === 'connect-timeout'
  const message = isTimeout
    ? 'The upstream did not accept the connection in time.'
    : 'The upstream could not be reached.'
  const Failure = wasSent ? GatewayError : NotSent
  return new Failure({ kind: isTimeout ? 'timed-out' : 'unreachable', reason, message }, { cause })
}

/** Matches the HTTP client's messages about a status with which a proxy refused a request or a tunnel. */
const PROXY_STATUS = /^Proxy (?:response|Authentication Required) \((\d{3})\)/

/**
 * Describes the cause of a failed connection for operators: the status of a proxy, the fault of the certificate, or else
 * the error code.
 */
export function connectionDetail(cause: unknown): string | undefined {
  const status = PROXY_STATUS.exec(cause instanceof Error ? cause.message : '')?.[1]
  if (status !== undefined) return `the proxy answered ${status}`
  const code = codeOf(cause)
  return CERTIFICATE_FAULTS[code] ?? (code === '' ? undefined : code)
}

/** Returns the code of an error, of its cause, or of the first of its inner errors with a code. */
function codeOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth > MAX_DEPTH) return ''
  const { code, cause } = error as Error & { readonly code?: unknown }
  const isKnownCode = typeof code === 'string' && REASONS.some(([, pattern]) => pattern.test(code))
  if (isKnownCode) return code
  const inner = [cause, ...(error instanceof AggregateError ? error.errors : [])].map(one => codeOf(one, depth + 1))
  return inner.find(one => one !== '') ?? (typeof code === 'string' ? code : '')
}

/** Maximum depth to which nested causes are searched for a code. */
const MAX_DEPTH = 4
