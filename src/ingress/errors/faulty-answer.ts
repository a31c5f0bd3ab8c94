import { type CanonicalError, GatewayError, upstreamFailed } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'

/* What may be wrong with an answer of any format that came with status 200. */

/** Of a stream. */
export const MALFORMED = upstreamFailed('The upstream sent an event that is no JSON object.')
export const CUT_SHORT = upstreamFailed('The upstream ended its answer early.')

/**
 * The failure of an upstream that answered with status 200, but with an error (trap 77) or with something else than was
 * asked for.
 *
 * @param fault what is wrong with it otherwise: `is no picture`.
 */
export const noAnswer = (body: JsonObject, fault: string, readError: (body: JsonObject) => CanonicalError) =>
  new GatewayError(
    body['error'] == null ? upstreamFailed(`The upstream sent something that ${fault}.`) : readError(body),
  )
