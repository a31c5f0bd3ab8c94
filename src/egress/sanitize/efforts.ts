import type { Losses } from '../../canonical/loss.ts'
import { defined, type Format } from '../../canonical/node.ts'
import { EFFORTS, type Effort, type Reasoning } from '../../canonical/request.ts'

/** Efforts to which a budget can be converted, weakest first. */
export const BUDGET_EFFORTS: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max']

/** Reasoning budget of each effort, in tokens. */
export const BUDGETS: { readonly [E in Effort]: number } = {
  none: 0,
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_000,
}

/** Returns the lowest effort whose budget is at least `budget`. */
export const effortOf = (budget: number): Effort => BUDGET_EFFORTS.find(effort => BUDGETS[effort] >= budget) ?? 'max'

/**
 * Returns the wanted effort if the model supports it, otherwise the next lower effort, or else the lowest. An effort of
 * `low` or more never turns reasoning off if the model has another effort. Returns undefined if the model supports no
 * efforts.
 *
 * @param efforts the model's efforts, weakest first.
 */
export function nearest(wanted: Effort, efforts: readonly Effort[]): Effort | undefined {
  const rank = EFFORTS.indexOf(wanted)
  const found = efforts.findLast(effort => EFFORTS.indexOf(effort) <= rank) ?? efforts[0]
  return found === 'none' && rank >= EFFORTS.indexOf('low') ? (efforts[1] ?? found) : found
}

/**
 * Replaces an effort that the model does not support with the nearest one, or drops it if the model has no efforts.
 *
 * @param efforts the model's efforts, weakest first, or undefined if they are unknown.
 */
export function withSupportedEffort(
  reasoning: Reasoning,
  efforts: readonly Effort[] | undefined,
  losses: Losses,
): Reasoning {
  const { effort, ...others } = reasoning
  if (effort === undefined || efforts === undefined || efforts.includes(effort)) return reasoning
  const supported = nearest(effort, efforts)
  const path = ['reasoning', 'effort']
  if (supported !== undefined) {
    losses.change(path, supported, 'nearest-effort')
    return { ...reasoning, effort: supported }
  }
  if (effort === 'none') losses.dropRestored(path, 'reasoning-is-off')
  else losses.drop(path, 'no-reasoning-effort')
  return others
}

/**
 * Converts a reasoning budget to the nearest effort, for formats with efforts but without budgets. The budget is
 * dropped if the request also has an effort or if the model's efforts are unknown.
 *
 * @param efforts the model's efforts, weakest first.
 */
export function withoutBudget(
  reasoning: Reasoning,
  format: Format,
  efforts: readonly Effort[] = [],
  losses: Losses,
): Reasoning {
  const { budget, effort, show, extras } = reasoning
  const path = ['reasoning', 'budget']
  if (budget === undefined) return reasoning
  if (budget === -1) losses.dropRestored(path, 'left-to-the-model-anyway')
  const wanted = effort === undefined && budget >= 0 ? nearest(effortForBudget(budget), efforts) : undefined
  if (wanted === undefined) {
    if (budget !== -1) losses.drop(path, 'no-thinking-budget')
    return reasoning
  }
  const formatExtras = extras?.[format]
  const became: Reasoning = { effort: wanted, ...defined({ show, extras: formatExtras && { [format]: formatExtras } }) }
  losses.change(['reasoning'], became, 'said-as-effort')
  return { ...reasoning, effort: wanted }
}

const effortForBudget = (budget: number): Effort => (budget === 0 ? 'none' : effortOf(budget))
