import type { CanonicalError } from '../../canonical/error.ts'

/** The header that tells a caller when to come back, in whole seconds; none where nobody knows (trap 78). */
export const retryAfterHeader = ({ retryAfterSeconds }: CanonicalError): { readonly [name: string]: string } =>
  retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterSeconds)) }

/**
 * The headers by which clients of OpenAI's and Anthropic's formats know whether and when to try again: their SDKs ask
 * again on any 503 unless told not to, and nothing is mended by that while the upstream's account is at fault (trap 99).
 */
export const retryHeaders = (error: CanonicalError): { readonly [name: string]: string } =>
  error.kind === 'upstream-account'
    ? { ...retryAfterHeader(error), 'x-should-retry': 'false' }
    : retryAfterHeader(error)
