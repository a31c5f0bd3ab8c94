import { type CanonicalError, GatewayError } from '../canonical/error.ts'

/**
 * Returns the error for an event that could not be relayed, for example because its JSON is nested too deeply to be
 * serialized.
 */
export function eventFailure(thrown: unknown, kind: 'invalid-request' | 'upstream-failed'): CanonicalError {
  if (thrown instanceof GatewayError) return thrown.error
  if (thrown instanceof RangeError) return { kind, code: 'invalid_value', message: 'The event is nested too deeply.' }
  return { kind: 'internal', message: 'The event could not be relayed.' }
}
