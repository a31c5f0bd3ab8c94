import type { Part } from '../../canonical/content.ts'
import { type CanonicalRequest, EFFORTS, type Effort, type Reasoning } from '../../canonical/request.ts'
import { defined } from '../fields.ts'
import { FORMAT } from './content.ts'
import type { MessagesDialect } from './dialect.ts'
import { mostTokens } from './sampling.ts'

/** How a wish is met: as it will be read back, and why where that is another wish. */
export interface Plan {
  readonly became: Reasoning
  readonly reason: string
  /** The same wish in other words. */
  readonly restated?: true
}

export const OFF: Reasoning = { effort: 'none' }

/**
 * How the wish to think is met by a model that thinks as the dialect says.
 *
 * @param forced whether a tool has to be called, which none can while thinking by a budget.
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

/** Off; where that cannot be, as little thought as there is. */
function off({ effort, show }: Reasoning, dialect: MessagesDialect): Plan {
  if (dialect.thinking_off === 'never')
    return { became: adaptive(defined({ effort: 'low', show }) as Reasoning, dialect).became, reason: 'always-thinks' }
  const restated = effort === undefined || effort === 'none'
  return { became: OFF, reason: 'off-is-off', ...(restated ? { restated } : {}) }
}

/** Why there can be no thinking by a budget in this request. */
function obstacleTo(request: CanonicalRequest, forced: boolean, dialect: MessagesDialect): string | undefined {
  if (forced) return 'a-tool-is-forced'
  if (isMidway(request)) return 'no-signed-thinking'
  return mostTokens(request, dialect) <= LEAST_BUDGET ? 'no-room-to-think' : undefined
}

/** Thinking left to the model, by an effort; a budget says how great. */
function adaptive({ effort, budget, show }: Reasoning, dialect: MessagesDialect): Plan {
  const tokens = budget !== undefined && budget > 0 ? budget : undefined
  const wanted = effort ?? (tokens === undefined ? undefined : effortOf(tokens))
  const legal = wanted && nearest(wanted, dialect)
  const became = defined({ effort: legal, budget: legal === undefined ? -1 : undefined, show }) as Reasoning
  if (wanted === undefined) return { became, reason: 'thinking-left-to-the-model' }
  const same = tokens === undefined && legal === effort
  return {
    became,
    reason: tokens === undefined ? 'nearest-effort' : 'said-as-effort',
    ...(same ? { restated: same } : {}),
  }
}

/** The efforts of a model that thinks by itself, weakest first. */
const ALL: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max']

/** The effort itself where the model knows it, else the greatest below it, else the least; undefined where it knows none. */
function nearest(wanted: Effort, { efforts = ALL }: MessagesDialect): Effort | undefined {
  const rank = EFFORTS.indexOf(wanted)
  return efforts.findLast(effort => EFFORTS.indexOf(effort) <= rank) ?? efforts[0]
}

const LEAST_BUDGET = 1024

/** What an effort is worth, for models that know budgets only. */
const WORTH: { readonly [E in Effort]: number } = {
  none: 0,
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_000,
}

/** The least effort that is worth the budget. */
const effortOf = (budget: number): Effort => ALL.find(effort => WORTH[effort] >= budget) ?? 'max'

/** A budget of at least 1024 that leaves room for an answer. */
function budgeted(reasoning: Reasoning, request: CanonicalRequest, dialect: MessagesDialect): Plan {
  const { effort, budget, show } = reasoning
  const limit = mostTokens(request, dialect)
  const wanted = budget !== undefined && budget > 0 ? budget : WORTH[effort ?? 'medium']
  const fitting = wanted < limit ? wanted : Math.floor(limit / 2)
  const efforts = dialect.efforts ?? (dialect.thinking === 'budget' ? [] : ALL)
  const became = defined({
    effort: effort && nearest(effort, { efforts }),
    budget: Math.max(LEAST_BUDGET, fitting),
    show,
  }) as Reasoning
  return { became, reason: 'budget-made-legal' }
}

/** The assistant is in the midst of calling tools, and does not begin with a thought of its own upstream's. */
export function isMidway(request: CanonicalRequest): boolean {
  const turn = lastAnswer(request).filter(isSaid)
  return turn.some(part => part.type === 'tool-call') && !isProved(turn[0]!)
}

/** A thought with a proof of this format. */
export const isProved = (part: Part): boolean => part.type === 'reasoning' && part.signature?.format === FORMAT

/** Whether the part is written at all: neither a text of nothing nor a thought without proof is. */
function isSaid(part: Part): boolean {
  if (part.type === 'reasoning') return isProved(part)
  if (part.type === 'tool-call' || (part.type === 'opaque' && part.format === FORMAT)) return true
  return 'text' in part && part.text !== undefined && part.text.trim() !== ''
}

/** The last turn of the assistant, in however many messages. */
export function lastAnswer({ messages }: CanonicalRequest): readonly Part[] {
  const said: (readonly Part[])[] = []
  for (let index = messages.length - 1; index >= 0; index--) {
    const { role, content } = messages[index]!
    if (role !== 'assistant' && content.length > 0 && said.length > 0) break
    if (role === 'assistant' && content.some(isSaid)) said.push(content)
  }
  return said.reverse().flat()
}
