import { type CanonicalError, GatewayError } from '../canonical/error.ts'

/** Why an event of one side could not be passed on: JSON that is nested too deeply is parsed, but cannot be written. */
export function eventFailure(thrown: unknown, kind: 'invalid-request' | 'upstream-failed'): CanonicalError {
  if (thrown instanceof GatewayError) return thrown.error
  if (thrown instanceof RangeError) return { kind, code: 'invalid_value', message: 'The event is nested too deeply.' }
  return { kind: 'internal', message: 'The event could not be passed on.' }
}
