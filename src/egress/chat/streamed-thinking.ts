import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { WriteContext } from './content.ts'

/*
 * Qwen's older models at Alibaba Cloud think in streams only: "parameter.enable_thinking must be set to false for
 * non-streaming calls" (langchain4j#3974, spring-ai-alibaba#867, read on 2026-12-01). The gateway collects the stream.
 */

/**
 * Returns the request as a stream if its answer comes as a stream only.
 *
 * @param written the written settings of reasoning.
 */
export function streamedThinking(
  request: CanonicalRequest,
  written: JsonObject,
  { dialect, losses }: WriteContext,
): CanonicalRequest {
  const { whole_thinking, thinks_by_default: thinks } = dialect
  const isThinking = written['enable_thinking'] === true || (thinks === true && written['enable_thinking'] !== false)
  if (request.stream || whole_thinking !== false || !isThinking) return request
  losses.changeRestored(['stream'], true, 'thinks-in-streams-only')
  return { ...request, stream: true }
}
