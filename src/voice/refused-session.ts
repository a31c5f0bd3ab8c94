import { type CanonicalError, GatewayError } from '../canonical/error.ts'

/**
 * Returns the error for an upstream that refused to create a session. An `invalid-request` can refer only to the model,
 * because nothing else has been sent yet. In this case, another channel or a cascade is tried.
 */
export const refusedSession = (error: CanonicalError): GatewayError =>
  new GatewayError(error.kind === 'invalid-request' ? { ...error, retry: true } : error)
