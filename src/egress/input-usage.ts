import type { Losses } from '../canonical/loss.ts'
import type { Usage } from '../canonical/result.ts'

/** The count of answers whose only tokens are those of what was asked, and which must tell it: 0 where nobody knows. */
export function inputRequired({ input }: Usage, losses: Losses): number {
  if (input === undefined) losses.add(['usage', 'input'], 0, 'count-required')
  return input ?? 0
}
