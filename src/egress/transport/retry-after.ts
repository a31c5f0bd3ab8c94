import type { CanonicalError } from '../../canonical/error.ts'

/** The header with the time of the next attempt, in whole seconds; none where it is unknown (trap 78). */
export const retryAfterHeader = ({ retryAfterSeconds }: CanonicalError): { readonly [name: string]: string } =>
  retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterSeconds)) }

/**
 * The headers by which clients of OpenAI's and Anthropic's formats decide whether and when to retry: their SDKs retry
 * any 503 unless `x-should-retry` forbids it, and retrying is useless while the upstream's account is at fault (trap
 * 99).
 */
export const retryHeaders = (error: CanonicalError): { readonly [name: string]: string } =>
  error.kind === 'upstream-account'
    ? { ...retryAfterHeader(error), 'x-should-retry': 'false' }
    : retryAfterHeader(error)
