import type { Losses } from '../../canonical/loss.ts'
import { defined } from '../../canonical/node.ts'
import type { Sampling } from '../../canonical/request.ts'

/* Claude's sampling parameters, for all formats in which upstreams offer Claude. */

/** The sampling parameters by canonical name. */
export const RANDOM_FIELDS = ['temperature', 'topP', 'topK'] as const

/** Reports all sampling parameters as lost. */
export function dropSampling(sampling: Sampling, losses: Losses): void {
  for (const field of RANDOM_FIELDS) if (sampling[field] !== undefined) losses.drop(['sampling', field], 'no-sampling')
}

/** Minimum `top_p` allowed with thinking. */
const MIN_TOP_P = 0.95

/**
 * Limits the temperature to 1. With thinking, the temperature must be 1, `top_p` must be near 1, and `top_k` is not
 * allowed (trap 38).
 */
export function supportedSampling(
  sampling: Sampling,
  thinking: boolean,
  dialect: { readonly sampling?: 'all' | 'one' | 'none' },
  losses: Losses,
): Pick<Sampling, (typeof RANDOM_FIELDS)[number]> {
  const { temperature, topP, topK } = sampling
  const isTooHigh = temperature !== undefined && temperature > 1
  const drops = {
    temperature: thinking && temperature !== undefined && temperature !== 1,
    topP: thinking && topP !== undefined && topP < MIN_TOP_P,
    topK: thinking && topK !== undefined,
  }
  for (const field of RANDOM_FIELDS) if (drops[field]) losses.drop(['sampling', field], 'not-while-thinking')
  const hasBoth = temperature !== undefined && !drops.temperature && topP !== undefined && !drops.topP
  const keepsOne = hasBoth && dialect.sampling === 'one'
  if (keepsOne) losses.drop(['sampling', 'topP'], 'one-of-both')
  if (isTooHigh && !drops.temperature) losses.change(['sampling', 'temperature'], 1, 'at-most-one')
  return defined({
    temperature: drops.temperature ? undefined : isTooHigh ? 1 : temperature,
    topP: drops.topP || keepsOne ? undefined : topP,
    topK: drops.topK ? undefined : topK,
  }) as Pick<Sampling, (typeof RANDOM_FIELDS)[number]>
}

/** Returns the stop sequences without blank ones, which upstreams refuse. */
export function nonBlankStops(stop: Sampling['stop'], losses: Losses): readonly string[] | undefined {
  if (stop === undefined) return undefined
  const nonBlank = stop.filter(text => text.trim() !== '')
  if (nonBlank.length === 0 && stop.length > 0) return losses.drop(['sampling', 'stop'], 'blank-stop')
  stop.forEach((text, index) => {
    if (text.trim() === '') losses.drop(['sampling', 'stop', index], 'blank-stop')
  })
  return nonBlank
}
