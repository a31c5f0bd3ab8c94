import type { Losses } from '../canonical/loss.ts'
import type { Usage } from '../canonical/result.ts'

/**
 * For answers whose only tokens are those of what was asked, and which must tell a count: a total alone is taken for
 * it. Gives the 0 to be told where nothing is known, unless `untold` says that the upstream left the count out itself.
 */
export function inputRequired({ input, total }: Usage, untold: boolean, losses: Losses): 0 | undefined {
  if (input !== undefined) return undefined
  if (total !== undefined) {
    losses.add(['usage', 'input'], total, 'all-is-input')
    losses.drop(['usage', 'total'], 'told-by-the-input')
    return undefined
  }
  if (untold) return undefined
  losses.add(['usage', 'input'], 0, 'count-required')
  return 0
}
