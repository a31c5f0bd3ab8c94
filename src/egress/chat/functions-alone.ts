import type { Losses } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { type CanonicalRequest, isReasoningOff } from '../../canonical/request.ts'
import type { ChatDialect } from '../../formats/dialects/chat.ts'

/*
 * OpenAI's models from GPT-5.4 on refuse functions in Chat Completions unless the effort is `none`
 * (formats/responses-models.ts), and some of them reason unless told otherwise.
 */

/** Returns true if a native body has functions that its upstream refuses unless it is written anew. */
export const hasFunctionsWhileThinking = ({ tools, reasoning_effort: effort }: JsonObject): boolean =>
  effort !== 'none' && Array.isArray(tools) && tools.some(isFunction)

const isFunction = (tool: Json): boolean => (tool as JsonObject | null)?.['type'] === 'function'

/** Turns thinking off for a request with functions. The same request if nothing changes. */
export function withFunctionsAlone(
  request: CanonicalRequest,
  { functions_while_thinking }: ChatDialect,
  losses: Losses,
): CanonicalRequest {
  const { tools, reasoning } = request
  const hasFunctions = tools?.some(({ type }) => type === 'function') === true
  if (functions_while_thinking !== false || !hasFunctions) return request
  if (reasoning?.effort === 'none') return request
  const isOff = reasoning !== undefined && isReasoningOff(reasoning) === true
  const off = { effort: 'none' } as const
  if (reasoning === undefined) losses.add(['reasoning'], off, 'no-thinking-with-functions')
  else if (isOff) losses.changeRestored(['reasoning'], off, 'written-as-a-synonym')
  else losses.change(['reasoning'], off, 'no-thinking-with-functions')
  return { ...request, reasoning: off }
}
