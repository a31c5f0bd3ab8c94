import { type CanonicalError, GatewayError } from '../canonical/error.ts'

/**
 * Returns the error of an upstream that refused to create a session. An `invalid-request` can only concern the model,
 * because nothing else was sent yet. Another channel or a cascade is therefore tried.
 */
export const refusedSession = (error: CanonicalError): GatewayError =>
  new GatewayError(error.kind === 'invalid-request' ? { ...error, retry: true } : error)
