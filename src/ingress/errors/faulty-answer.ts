import { type CanonicalError, GatewayError, upstreamFailed } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'

/* Errors for a faulty answer that came with status 200, in any format. */

/** Error for a stream event that is not a JSON object. */
export const MALFORMED = upstreamFailed('The upstream sent an event that is not a JSON object.')
/** Error for a stream that ended before the answer did. */
export const CUT_SHORT = upstreamFailed('The upstream ended its answer early.', 'cut')

/**
 * Makes the error for an answer with status 200 that is an error (trap 77) or not what was requested.
 *
 * @param fault the predicate for an answer without an error, such as `is not an image`.
 */
export const faultyAnswer = (body: JsonObject, fault: string, readError: (body: JsonObject) => CanonicalError) =>
  new GatewayError(body['error'] == null ? upstreamFailed(`The upstream's answer ${fault}.`) : readError(body))
