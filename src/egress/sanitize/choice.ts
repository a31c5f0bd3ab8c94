import type { Losses } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'

/**
 * What a request says of the choice among its tools, where the upstream is told none: OpenAI refuses such words (400),
 * so that they never go out. Only the wish that a tool be used is lost with them.
 */
export function reportNoChoice({ toolChoice, parallelToolCalls }: CanonicalRequest, losses: Losses): void {
  if (toolChoice?.mode === 'required') losses.drop(['toolChoice'], 'no-tools')
  else if (toolChoice !== undefined) losses.hide(['toolChoice'], 'no-tools')
  if (parallelToolCalls !== undefined) losses.hide(['parallelToolCalls'], 'no-tools')
}
