import { type CanonicalError, GatewayError, upstreamFailed } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'

/* Errors for faulty answers with status 200, in any format. */

/** Error for a stream event that is not a JSON object. */
export const MALFORMED = upstreamFailed('The upstream sent an event that is not a JSON object.')
/** Error for a stream that ended before its answer was complete. */
export const CUT_SHORT = upstreamFailed('The upstream ended its answer early.', 'cut')

/**
 * Creates the error for an answer with status 200 that is an error (trap 77) or of the wrong kind.
 *
 * @param fault the fault of an answer that is not an error, as a predicate such as `is not an image`.
 */
export const faultyAnswer = (body: JsonObject, fault: string, readError: (body: JsonObject) => CanonicalError) =>
  new GatewayError(body['error'] == null ? upstreamFailed(`The upstream's answer ${fault}.`) : readError(body))
