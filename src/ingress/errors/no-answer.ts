import { type CanonicalError, GatewayError, upstreamFailed } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'

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
