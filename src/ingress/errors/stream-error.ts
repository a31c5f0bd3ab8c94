import { upstreamFailed } from '../../canonical/error.ts'

/* What may be wrong with a stream of any format. */

export const MALFORMED = upstreamFailed('The upstream sent an event that is no JSON object.')
export const CUT_SHORT = upstreamFailed('The upstream ended its answer early.')
