import type { Losses } from '../../canonical/loss.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Effort, Reasoning } from '../../canonical/request.ts'
import { BUDGET_EFFORTS, BUDGETS, effortOf, nearest } from './efforts.ts'

/* Claude's thinking settings, for all formats in which upstreams offer Claude (traps 26, 38, 41, 93). */

/** Dialect flags that affect thinking. */
export interface ThinkingDialect {
  readonly thinking?: 'adaptive' | 'budget' | 'both' | 'none'
  readonly thinking_off?: 'disabled' | 'between_tools' | 'never' | 'refused'
  readonly efforts?: readonly Effort[]
  readonly max_output?: number
}

/** Other facts about the request that affect thinking. */
export interface Circumstances {
  /** True if a tool call is forced, which rules out a thinking budget. */
  readonly forced: boolean
  /** Maximum number of tokens in the answer, including reasoning. */
  readonly limit: number
  /** Returns true if the last assistant turn has calls but lacks the signed reasoning that led to them. */
  midway(): boolean
}

/** Returns the wire value that states whether the answer shows the reasoning. */
export const displayOf = (show: boolean | undefined): string | undefined =>
  show === undefined ? undefined : show ? 'summarized' : 'omitted'

/**
 * Returns the maximum number of tokens in an answer, including reasoning: the lower of the caller's and the model's
 * limit, or Infinity if neither is known.
 */
export const maxAnswerTokens = ({ sampling }: CanonicalRequest, { max_output }: ThinkingDialect): number =>
  Math.min(sampling.maxTokens ?? Number.POSITIVE_INFINITY, max_output ?? Number.POSITIVE_INFINITY)

/** Reports the differences between the plan and the caller's settings. */
export function reportPlan(original: Reasoning, { became, reason, isRestated }: Plan, losses: Losses): void {
  for (const field of ['effort', 'budget', 'show'] as const) {
    const path = ['reasoning', field]
    const now = became[field]
    if (now === original[field]) continue
    if (now === undefined) isRestated ? losses.dropRestored(path, reason) : losses.drop(path, reason)
    else if (isRestated) losses.changeRestored(path, now, reason)
    else if (original[field] === undefined) losses.add(path, now, reason)
    else losses.change(path, now, reason)
  }
}

/** The supported form of the reasoning settings, as read back from the request, and the reason for any difference. */
export interface Plan {
  readonly became: Reasoning
  readonly reason: string
  /** True if the settings have the same meaning as the caller's. */
  readonly isRestated?: true
}

export const OFF: Reasoning = { effort: 'none' }

/**
 * Writes thinking without a budget, or no thinking, for a native request whose last turn lacks the reasoning that a
 * budget requires, because it belongs to another upstream.
 */
export function thinkingWithoutBudget(reasoning: Reasoning, { thinking }: ThinkingDialect, losses: Losses): JsonObject {
  const isAdaptive = thinking === 'adaptive' || thinking === 'both'
  const became: Reasoning = isAdaptive ? { budget: -1, ...defined({ show: reasoning.show }) } : OFF
  reportPlan(reasoning, { became, reason: 'no-signed-thinking' }, losses)
  const display = displayOf(reasoning.show)
  return isAdaptive ? { type: 'adaptive', ...(display === undefined ? {} : { display }) } : { type: 'disabled' }
}

/** Finds the supported form of the reasoning settings for a model with this dialect. */
export function planThinking(reasoning: Reasoning, circumstances: Circumstances, dialect: ThinkingDialect): Plan {
  const { effort, budget, show } = reasoning
  if (dialect.thinking === 'none') return { became: {}, reason: 'no-thinking' }
  if (effort === 'none' || budget === 0) return planOff(reasoning, dialect)
  if (effort === undefined && budget === undefined && show !== true)
    return { became: {}, reason: 'nothing-to-show', isRestated: true }
  const hasBudgetsOnly = dialect.thinking === 'budget'
  if (!hasBudgetsOnly && (dialect.thinking === 'adaptive' || budget === undefined || budget <= 0))
    return planAdaptive(reasoning, dialect)
  const obstacle = obstacleTo(circumstances)
  if (obstacle === undefined) return planBudget(reasoning, circumstances, dialect)
  if (!hasBudgetsOnly) return { ...planAdaptive(reasoning, dialect), reason: obstacle }
  return { became: alwaysThinks(dialect) ? {} : OFF, reason: obstacle }
}

const alwaysThinks = ({ thinking_off: off }: ThinkingDialect): boolean => off === 'never' || off === 'refused'

/** Turns thinking off or, if that is not possible, requests the least thinking. */
function planOff({ effort, show }: Reasoning, dialect: ThinkingDialect): Plan {
  if (alwaysThinks(dialect) && dialect.thinking === 'budget') return { became: {}, reason: 'always-thinks' }
  if (alwaysThinks(dialect))
    return {
      became: planAdaptive(defined({ effort: 'low', show }) as Reasoning, dialect).became,
      reason: 'always-thinks',
    }
  const isRestated = effort === undefined || effort === 'none'
  return { became: OFF, reason: 'reasoning-is-off', ...(isRestated ? { isRestated: isRestated } : {}) }
}

/** Returns the reason why the request cannot have a thinking budget, or undefined if it can. */
function obstacleTo({ forced, midway, limit }: Circumstances): string | undefined {
  if (forced) return 'a-tool-is-forced'
  if (midway()) return 'no-signed-thinking'
  return limit <= MIN_BUDGET ? 'no-room-to-think' : undefined
}

/** Requests adaptive thinking with an effort. A budget is mapped to an effort. */
function planAdaptive({ effort, budget, show }: Reasoning, dialect: ThinkingDialect): Plan {
  const tokens = budget !== undefined && budget > 0 ? budget : undefined
  const wanted = effort ?? (tokens === undefined ? undefined : effortOf(tokens))
  const supported = wanted && nearest(wanted, dialect.efforts ?? BUDGET_EFFORTS)
  const became = defined({ effort: supported, budget: supported === undefined ? -1 : undefined, show }) as Reasoning
  if (wanted === undefined) return { became, reason: 'thinking-left-to-the-model' }
  const isSame = tokens === undefined && supported === effort
  return {
    became,
    reason: tokens === undefined ? 'nearest-effort' : 'said-as-effort',
    ...(isSame ? { isRestated: isSame } : {}),
  }
}

/** Minimum thinking budget, in tokens. */
const MIN_BUDGET = 1024

/** Requests a budget of at least 1024 tokens that leaves room for the answer. */
function planBudget(reasoning: Reasoning, { limit }: Circumstances, dialect: ThinkingDialect): Plan {
  const { effort, budget, show } = reasoning
  const wanted = budget !== undefined && budget > 0 ? budget : BUDGETS[effort ?? 'medium']
  const fitting = wanted < limit ? wanted : Math.floor(limit / 2)
  const efforts = dialect.efforts ?? (dialect.thinking === 'budget' ? [] : BUDGET_EFFORTS)
  const became = defined({
    effort: effort && nearest(effort, efforts),
    budget: Math.max(MIN_BUDGET, fitting),
    show,
  }) as Reasoning
  return { became, reason: 'budget-made-legal' }
}
