import { type CanonicalError, GatewayError } from '../canonical/error.ts'

/**
 * The error of an upstream that refused to create a session. An `invalid-request` can only concern the model, since
 * nothing else was sent yet, so another channel or a cascade is tried.
 */
export const refusedSession = (error: CanonicalError): GatewayError =>
  new GatewayError(error.kind === 'invalid-request' ? { ...error, retry: true } : error)
