import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { FORMAT, type WriteContext } from './content.ts'
import { neverReasons } from './settings.ts'

export const ENCRYPTED_REASONING = 'reasoning.encrypted_content'
export const LOGPROBS = 'message.output_text.logprobs'
const SOURCES = 'web_search_call.action.sources'

/**
 * Writes `include`, the list of additional output. Signatures are included whenever the request has reasoning settings:
 * callers of other formats do not request them, but without them the next turn could not return the reasoning. The same
 * applies to the sources of searches.
 */
export function writeInclude(request: CanonicalRequest, { dialect }: WriteContext): JsonObject {
  const { logprobs } = request.sampling
  const others = (request.extras?.[FORMAT]?.['include'] as readonly string[] | undefined) ?? []
  const { reasoning } = request
  const usesReasoning =
    reasoning !== undefined && reasoning.effort !== 'none' && dialect.stateless !== true && !neverReasons(dialect)
  const usesSearch = request.tools?.some(tool => tool.type === 'hosted' && tool.kind === 'web-search') === true
  const includedOutput = [
    ...others,
    ...(logprobs === undefined ? [] : [LOGPROBS]),
    ...(usesReasoning ? [ENCRYPTED_REASONING] : []),
    ...(usesSearch ? [SOURCES] : []),
  ]
  return {
    ...(includedOutput.length === 0 ? {} : { include: includedOutput }),
    ...(logprobs ? { top_logprobs: logprobs } : {}),
  }
}
