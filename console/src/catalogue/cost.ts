import { money } from '../format.ts'
import { common } from '../i18n/common.ts'

/** Costs of some requests: the known ones added up, and the number of requests without a known cost. */
export interface Costs {
  readonly cost: number | undefined
  readonly unpriced: number
  readonly estimated?: number
}

/**
 * Formats a cost. Unknown is never `$0.00` (trap 120): without a known cost it is `unknown`, with some unknown ones it
 * has a `+`, and with estimated ones a `≈`.
 */
export function costText(
  { cost = 0, unpriced, estimated = 0 }: Costs,
  options: { readonly round?: boolean } = {},
): string {
  if (cost === 0 && unpriced > 0) return common().unknown
  return `${estimated > 0 ? '≈ ' : ''}${money(cost, options)}${unpriced > 0 ? ' +' : ''}`
}
