import type { Loss } from '../canonical/loss.ts'
import type { Usage } from '../canonical/result.ts'
import { shownLosses } from '../egress/losses.ts'

/**
 * Returns the losses of an answer to show to its caller: losses of its candidates, and token counts that the caller's
 * format lacks. Counts of zero are left out.
 */
export const reportedAnswerLosses = (losses: readonly Loss[], usage: Usage | undefined): readonly Loss[] =>
  losses.length === 0
    ? losses
    : shownLosses(losses).filter(
        loss => loss.path[0] === 'candidates' || (loss.path[0] === 'usage' && isLostCount(loss, usage)),
      )

const isLostCount = ({ kind, path: [, field, ...rest] }: Loss, usage: Usage | undefined): boolean =>
  kind === 'dropped' &&
  field !== 'extras' &&
  rest.length === 0 &&
  (field === undefined
    ? Object.values(usage ?? {}).some(isPositiveCount)
    : isPositiveCount(usage?.[field as keyof Usage]))

/** Returns true if a count is above zero. Ignores the text count by kind, because the total includes it anyway. */
function isPositiveCount(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'number' && value > 0
  return Object.entries(value).some(([kind, count]) => kind !== 'text' && count > 0)
}
