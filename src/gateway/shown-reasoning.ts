import type { Format } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { ReasoningShown } from '../canonical/shown-reasoning.ts'
import { READERS } from '../ingress/index.ts'
import type { Target } from '../upstreams/router.ts'

/** What of an attempt decides which reasoning its caller gets. */
interface Asked {
  readonly call: { readonly format: Format }
  readonly request: CanonicalRequest
  readonly target: Pick<Target, 'native'>
}

/**
 * What of the answer's reasoning the caller asked for (trap 110). An upstream of the caller's own format obeys the request
 * itself, so its answer stays as it is.
 */
export const reasoningShown = ({ call, request, target }: Asked): ReasoningShown =>
  target.native ? 'all' : (READERS[call.format]!.reasoningShown?.(request) ?? 'all')
