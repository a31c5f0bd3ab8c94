import { GatewayError } from '../canonical/error.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Candidate } from '../router.ts'
import { STORED_FORMAT } from './format.ts'

/**
 * The candidates that can look up the prompt a request refers to: it is stored at an upstream, and without it
 * the model would get another request. All of them where it points at none.
 *
 * @throws GatewayError `invalid-request` where none can.
 */
export function withStoredPrompt(candidates: readonly Candidate[], request: CanonicalRequest): readonly Candidate[] {
  if (request.extras?.[STORED_FORMAT]?.['prompt'] == null) return candidates
  const able = candidates.filter(({ native, emulated }) => native && !emulated)
  if (able.length > 0) return able
  throw new GatewayError({
    kind: 'invalid-request',
    message: '`prompt` points at a prompt stored at an upstream, and no upstream of this model has any.',
    param: 'prompt',
    code: 'unsupported_parameter',
  })
}
