import { type CanonicalError, GatewayError } from '../canonical/error.ts'

/**
 * The failure of an upstream that creates no session. Only the model was requested so far, so `invalid-request` is about
 * the model, which another channel or a cascade may have.
 */
export const refusedSession = (error: CanonicalError): GatewayError =>
  new GatewayError(error.kind === 'invalid-request' ? { ...error, retry: true } : error)
