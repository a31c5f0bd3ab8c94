import type { Losses } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'

/**
 * Reports the choice among tools where the upstream gets none: OpenAI refuses these fields without tools (400), so they
 * are never sent. Only a required tool call is lost with them.
 */
export function reportNoChoice({ toolChoice, parallelToolCalls }: CanonicalRequest, losses: Losses): void {
  if (toolChoice?.mode === 'required') losses.drop(['toolChoice'], 'no-tools')
  else if (toolChoice !== undefined) losses.hide(['toolChoice'], 'no-tools')
  if (parallelToolCalls !== undefined) losses.hide(['parallelToolCalls'], 'no-tools')
}
