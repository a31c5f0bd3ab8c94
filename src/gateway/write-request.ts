import type { Loss } from '../canonical/loss.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { locateLosses } from './locate-losses.ts'
import { type Prepared, prepare, refused } from './prepare.ts'
import type { Attempt } from './types.ts'

/**
 * Writes a request for the candidate of an attempt.
 *
 * @param request the attempt's own, or one that an emulation makes of it.
 * @throws GatewayError `cannot-express` where the upstream's format has no such request, or too much would be lost.
 */
export function writeRequest(attempt: Attempt, request: CanonicalRequest = attempt.request): Prepared {
  const prepared = prepare(request, attempt.candidate, attempt.thoughts)
  attempt.report.recalled(prepared.recalled?.count)
  const place = (lost: readonly Loss[]) => (request === attempt.request ? locateLosses(lost, attempt) : lost)
  const refusal = refused(request, prepared.losses, attempt.onLoss, place)
  if (refusal !== undefined) throw refusal
  return prepared
}
