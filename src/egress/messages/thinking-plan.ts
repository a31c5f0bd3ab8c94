import type { Part } from '../../canonical/content.ts'
import { type CanonicalRequest, EFFORTS, type Effort, type Reasoning } from '../../canonical/request.ts'
import { defined } from '../fields.ts'
import { FORMAT } from './content.ts'
import type { MessagesDialect } from './dialect.ts'
import { mostTokens } from './sampling.ts'

/** The supported form of a reasoning setting: as it is read from the request, and the reason where it differs. */
export interface Plan {
  readonly became: Reasoning
  readonly reason: string
  /** The same setting in other terms. */
  readonly restated?: true
}

export const OFF: Reasoning = { effort: 'none' }

/**
 * The supported form of a reasoning setting, for a model with this dialect.
 *
 * @param forced whether a tool has to be called, which none can with a thinking budget.
 */
export function planned(
  reasoning: Reasoning,
  request: CanonicalRequest,
  forced: boolean,
  dialect: MessagesDialect,
): Plan {
  const { effort, budget, show } = reasoning
  if (dialect.thinking === 'none') return { became: {}, reason: 'no-thinking' }
  if (effort === 'none' || budget === 0) return off(reasoning, dialect)
  if (effort === undefined && budget === undefined && show !== true)
    return { became: {}, reason: 'nothing-to-show', restated: true }
  const only = dialect.thinking === 'budget'
  if (!only && (dialect.thinking === 'adaptive' || budget === undefined || budget <= 0))
    return adaptive(reasoning, dialect)
  const obstacle = obstacleTo(request, forced, dialect)
  if (obstacle === undefined) return budgeted(reasoning, request, dialect)
  return only ? { became: OFF, reason: obstacle } : { ...adaptive(reasoning, dialect), reason: obstacle }
}

/** Off; where that is not supported, the least thinking. */
function off({ effort, show }: Reasoning, dialect: MessagesDialect): Plan {
  if (dialect.thinking_off === 'never')
    return { became: adaptive(defined({ effort: 'low', show }) as Reasoning, dialect).became, reason: 'always-thinks' }
  const restated = effort === undefined || effort === 'none'
  return { became: OFF, reason: 'off-is-off', ...(restated ? { restated } : {}) }
}

/** The reason why this request cannot have a thinking budget. */
function obstacleTo(request: CanonicalRequest, forced: boolean, dialect: MessagesDialect): string | undefined {
  if (forced) return 'a-tool-is-forced'
  if (isMidway(request)) return 'no-signed-thinking'
  return mostTokens(request, dialect) <= LEAST_BUDGET ? 'no-room-to-think' : undefined
}

/** Adaptive thinking, with an effort; a budget determines the effort. */
function adaptive({ effort, budget, show }: Reasoning, dialect: MessagesDialect): Plan {
  const tokens = budget !== undefined && budget > 0 ? budget : undefined
  const wanted = effort ?? (tokens === undefined ? undefined : effortOf(tokens))
  const supported = wanted && nearest(wanted, dialect)
  const became = defined({ effort: supported, budget: supported === undefined ? -1 : undefined, show }) as Reasoning
  if (wanted === undefined) return { became, reason: 'thinking-left-to-the-model' }
  const same = tokens === undefined && supported === effort
  return {
    became,
    reason: tokens === undefined ? 'nearest-effort' : 'said-as-effort',
    ...(same ? { restated: same } : {}),
  }
}

/** The efforts of a model with adaptive thinking, weakest first. */
const ALL: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max']

/**
 * The effort itself where the model supports it, else the greatest below it, else the least; undefined where it
 * supports none.
 */
function nearest(wanted: Effort, { efforts = ALL }: MessagesDialect): Effort | undefined {
  const rank = EFFORTS.indexOf(wanted)
  return efforts.findLast(effort => EFFORTS.indexOf(effort) <= rank) ?? efforts[0]
}

const LEAST_BUDGET = 1024

/** Budgets by effort, for models that have budgets only. */
const BUDGETS: { readonly [E in Effort]: number } = {
  none: 0,
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_000,
}

/** The least effort whose budget suffices. */
const effortOf = (budget: number): Effort => ALL.find(effort => BUDGETS[effort] >= budget) ?? 'max'

/** A budget of at least 1024 that leaves room for an answer. */
function budgeted(reasoning: Reasoning, request: CanonicalRequest, dialect: MessagesDialect): Plan {
  const { effort, budget, show } = reasoning
  const limit = mostTokens(request, dialect)
  const wanted = budget !== undefined && budget > 0 ? budget : BUDGETS[effort ?? 'medium']
  const fitting = wanted < limit ? wanted : Math.floor(limit / 2)
  const efforts = dialect.efforts ?? (dialect.thinking === 'budget' ? [] : ALL)
  const became = defined({
    effort: effort && nearest(effort, { efforts }),
    budget: Math.max(LEAST_BUDGET, fitting),
    show,
  }) as Reasoning
  return { became, reason: 'budget-made-legal' }
}

/** Whether the assistant's turn has calls but does not begin with a thought that this upstream signed. */
export function isMidway(request: CanonicalRequest): boolean {
  const turn = lastAnswer(request).filter(isWritten)
  return turn.some(part => part.type === 'tool-call') && !isProved(turn[0]!)
}

/** A thought with a proof of this format. */
export const isProved = (part: Part): boolean => part.type === 'reasoning' && part.signature?.format === FORMAT

/** Whether the part is written at all: empty texts and thoughts without proof are not. */
function isWritten(part: Part): boolean {
  if (part.type === 'reasoning') return isProved(part)
  if (part.type === 'tool-call' || (part.type === 'opaque' && part.format === FORMAT)) return true
  return 'text' in part && part.text !== undefined && part.text.trim() !== ''
}

/** The last turn of the assistant, in any number of messages. */
export function lastAnswer({ messages }: CanonicalRequest): readonly Part[] {
  const turns: (readonly Part[])[] = []
  for (let index = messages.length - 1; index >= 0; index--) {
    const { role, content } = messages[index]!
    if (role !== 'assistant' && content.length > 0 && turns.length > 0) break
    if (role === 'assistant' && content.some(isWritten)) turns.push(content)
  }
  return turns.reverse().flat()
}
