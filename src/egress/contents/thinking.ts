import type { Losses } from '../../canonical/loss.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import type { Effort, Reasoning } from '../../canonical/request.ts'
import type { ContentsDialect } from '../../formats/dialects/contents.ts'
import { withoutBudget, withSupportedEffort } from '../sanitize/efforts.ts'
import { FORMAT, type WriteContext } from './fields.ts'

/** Thinking levels by effort. */
const LEVEL_BY_EFFORT: { readonly [E in Effort]: string | undefined } = {
  none: undefined,
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'XHIGH',
  max: undefined,
}

/** Levels of models whose levels are unknown. */
const USUAL_LEVELS: readonly Effort[] = ['minimal', 'low', 'medium', 'high']

/** Thinking budget by effort, in tokens, for models that predate thinking levels. */
const BUDGET_BY_EFFORT: { readonly [E in Effort]: number } = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24576,
  xhigh: 24576,
  max: 24576,
}

type Mode = NonNullable<ContentsDialect['thinking']>

type WriteDepth = (reasoning: Reasoning, context: WriteContext) => JsonObject

const DEPTHS: { readonly [M in Exclude<Mode, 'none'>]: WriteDepth } = {
  level: writeLevel,
  budget: writeBudget,
  both: writeEither,
}

/** Writes the fields of `thinkingConfig` that the model takes (docs/wire/contents.md#thinking). */
export function writeThinking(reasoning: Reasoning | undefined, context: WriteContext): JsonObject {
  if (reasoning === undefined) return {}
  const { thinking = 'both' } = context.dialect
  if (thinking === 'none') return dropThinking(reasoning, context.losses)
  return { ...DEPTHS[thinking](reasoning, context), ...(defined({ includeThoughts: reasoning.show }) as JsonObject) }
}

/** Reports the settings as lost, because the model refuses each of them. Those that ask for none are no loss. */
function dropThinking({ effort, budget, show }: Reasoning, losses: Losses): JsonObject {
  const drop = (field: string, isImplied: boolean): void => {
    const path = ['reasoning', field]
    if (isImplied) losses.dropRestored(path, 'reasoning-is-off')
    else losses.drop(path, 'no-thinking')
  }
  if (effort !== undefined) drop('effort', effort === 'none')
  if (budget !== undefined) drop('budget', budget === 0)
  if (show !== undefined) drop('show', !show)
  return {}
}

/** Writes a level. A budget becomes the nearest one, and thinking that cannot be turned off gets the lowest one. */
function writeLevel(reasoning: Reasoning, { dialect, losses }: WriteContext): JsonObject {
  const efforts = (dialect.efforts as readonly Effort[] | undefined) ?? USUAL_LEVELS
  const { effort } = withSupportedEffort(withoutBudget(reasoning, FORMAT, efforts, losses), efforts, losses)
  const level = effort && LEVEL_BY_EFFORT[effort]
  return level === undefined ? {} : { thinkingLevel: level }
}

/** Writes a budget within the model's limits. A budget of 0 turns thinking off. */
function writeBudget({ effort, budget }: Reasoning, { dialect, losses }: WriteContext): JsonObject {
  if (effort === undefined && budget === undefined) return {}
  const wanted = budget ?? BUDGET_BY_EFFORT[effort!]
  const limited = withinLimits(wanted, dialect)
  const path = ['reasoning', 'budget']
  if (effort !== undefined)
    losses.drop(['reasoning', 'effort'], budget === undefined ? 'said-as-budget' : 'budget-or-level')
  if (budget === undefined) losses.add(path, limited, 'said-as-budget')
  else if (limited !== budget) losses.change(path, limited, 'budget-within-limits')
  return { thinkingBudget: limited }
}

/** Raises or lowers a budget to the model's limits. -1 leaves it to the model. */
function withinLimits(budget: number, { min_budget, max_budget, thinking_off }: ContentsDialect): number {
  if (budget === -1 || (budget === 0 && thinking_off !== 'never')) return budget
  return Math.min(Math.max(budget, min_budget ?? budget), max_budget ?? Number.POSITIVE_INFINITY)
}

/** Writes either a level or a budget, for models of which nothing is known. */
function writeEither(reasoning: Reasoning, context: WriteContext): JsonObject {
  const { effort, budget } = reasoning
  return budget !== undefined || effort === 'none' ? writeBudget(reasoning, context) : writeLevel(reasoning, context)
}
