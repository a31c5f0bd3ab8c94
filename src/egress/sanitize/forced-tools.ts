import type { Losses } from '../../canonical/loss.ts'
import { type CanonicalRequest, isReasoningOff } from '../../canonical/request.ts'

/**
 * Turns thinking off for a request that forces a call, unless its caller asks for thinking or the model always thinks.
 * The model is then free to call a tool. For upstreams that think unless told otherwise, and refuse both.
 *
 * @param always true if the model cannot turn thinking off.
 */
export function forcedInThinking(request: CanonicalRequest, losses: Losses, always = false): CanonicalRequest {
  const { toolChoice, tools, reasoning } = request
  if (toolChoice?.mode !== 'required' || tools === undefined || tools.length === 0) return request
  const off = reasoning === undefined ? undefined : isReasoningOff(reasoning)
  if (off === true && !always) return request
  if (off === undefined && !always) {
    if (reasoning === undefined) losses.add(['reasoning'], { effort: 'none' }, 'no-thinking-while-forced')
    else losses.add(['reasoning', 'effort'], 'none', 'no-thinking-while-forced')
    return { ...request, reasoning: { ...reasoning, effort: 'none' } }
  }
  losses.change(['toolChoice', 'mode'], 'auto', 'not-forced-while-thinking')
  const { only, ...choice } = toolChoice
  if (only !== undefined) losses.drop(['toolChoice', 'only'], 'not-forced-while-thinking')
  return { ...request, toolChoice: { ...choice, mode: 'auto' } }
}
