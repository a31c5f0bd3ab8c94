import type { Format } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { ReasoningShown } from '../canonical/shown-reasoning.ts'
import { READERS } from '../ingress/index.ts'
import type { Target } from '../upstreams/router.ts'

/** Fields of an attempt that determine which reasoning its caller sees. */
interface ReasoningRequest {
  readonly incoming: { readonly call: { readonly format: Format } }
  readonly request: CanonicalRequest
  readonly target: Pick<Target, 'native'>
}

/**
 * Returns how much of the answer's reasoning the caller requested (trap 110). A native upstream obeys the request
 * itself, so its answer is passed on unchanged.
 */
export const reasoningShown = ({ incoming: { call }, request, target }: ReasoningRequest): ReasoningShown =>
  target.native ? 'all' : (READERS[call.format]!.reasoningShown?.(request) ?? 'all')
