import type { Part } from '../../canonical/content.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Effort, Reasoning } from '../../canonical/request.ts'
import { defined, kept, spelt } from '../fields.ts'
import { FORMAT, type Pen } from './content.ts'

/** What is written of a wish to think, and what sampling and limits must make room for. */
export interface Thinking {
  readonly thinking?: JsonObject
  readonly effort?: string
  /** Whether the upstream will think. */
  readonly on: boolean
  readonly budget?: number
}

const NOTHING: Thinking = { on: false }

export function writeThinking(request: CanonicalRequest, pen: Pen): Thinking {
  const { reasoning } = request
  if (reasoning === undefined) return NOTHING
  if (!pen.native) return legalThinking(reasoning, request, pen)
  if (spelt(reasoning, FORMAT)['type'] !== 'enabled' || !isMidway(request) || !hadThoughts(request))
    return ownThinking(reasoning, pen)
  report(reasoning, { became: OFF, reason: 'no-signed-thinking' }, pen)
  return { thinking: { type: 'disabled' }, on: false }
}

const displayOf = (show: boolean | undefined): string | undefined =>
  show === undefined ? undefined : show ? 'summarized' : 'omitted'

/** As it came; a strict upstream takes no effort beside thinking that is off (trap 39). */
function ownThinking(reasoning: Reasoning, { dialect, losses }: Pen): Thinking {
  const { type, budget, config } = spelt(reasoning, FORMAT)
  const off = type === 'disabled'
  const strict = off && dialect.effort_while_off === false && config === true
  if (strict) losses.drop(['reasoning', 'effort'], 'no-effort-while-off')
  const effort = config === true && !strict ? reasoning.effort : undefined
  if (type === undefined) return { on: false, ...defined({ effort }) }
  const wire = defined({
    type,
    budget_tokens: type === 'enabled' && budget !== 'absent' ? reasoning.budget : undefined,
    display: displayOf(reasoning.show),
  })
  return { thinking: { ...wire, ...kept(reasoning, FORMAT) } as JsonObject, on: !off, ...defined({ effort }) }
}

/** How a wish is met: as it will be read back, and why where that is another wish. */
interface Plan {
  readonly became: Reasoning
  readonly reason: string
  /** The same wish in other words. */
  readonly restated?: true
}

/** Canonical wishes made legal (traps 26, 38, 41). */
function legalThinking(reasoning: Reasoning, request: CanonicalRequest, pen: Pen): Thinking {
  const plan = planned(reasoning, request, pen)
  report(reasoning, plan, pen)
  const { effort, budget, show } = plan.became
  const display = displayOf(show)
  if (effort === undefined && budget === undefined) return NOTHING
  if (effort === 'none') return { thinking: { type: 'disabled', ...kept(reasoning, FORMAT) }, on: false }
  const enabled = budget !== undefined && budget > 0
  const wire = enabled ? { type: 'enabled', budget_tokens: budget } : { type: 'adaptive' }
  const thinking = { ...wire, ...defined({ display }), ...kept(reasoning, FORMAT) } as JsonObject
  return { thinking, on: true, ...defined({ effort, budget: enabled ? budget : undefined }) }
}

const OFF: Reasoning = { effort: 'none' }

function planned(reasoning: Reasoning, request: CanonicalRequest, { dialect }: Pen): Plan {
  const { effort, budget, show } = reasoning
  if (dialect.thinking === 'none') return { became: {}, reason: 'no-thinking' }
  if (effort === 'none') return { became: OFF, reason: 'off-is-off', restated: true }
  if (budget === 0) return { became: OFF, reason: 'off-is-off', ...(effort === undefined ? { restated: true } : {}) }
  if (effort === undefined && budget === undefined && show !== true)
    return { became: {}, reason: 'nothing-to-show', restated: true }
  if (isMidway(request)) return { became: OFF, reason: 'no-signed-thinking' }
  if (dialect.thinking === 'budget' || (budget !== undefined && budget > 0))
    return budgeted(reasoning, request, dialect)
  const became = { ...defined({ effort: effort === 'minimal' ? 'low' : effort, show }) } as Reasoning
  if (effort !== undefined)
    return { became, reason: 'nearest-effort', ...(effort === 'minimal' ? {} : { restated: true }) }
  return { became: { ...became, budget: -1 }, reason: 'thinking-left-to-the-model' }
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

/** A budget of at least 1024 that leaves room for an answer; where there is none, no thinking. */
function budgeted(reasoning: Reasoning, request: CanonicalRequest, dialect: Pen['dialect']): Plan {
  const { effort, budget, show } = reasoning
  const limit = request.sampling.maxTokens ?? Number.POSITIVE_INFINITY
  if (limit <= LEAST_BUDGET) return { became: OFF, reason: 'no-room-to-think' }
  const wanted = budget !== undefined && budget > 0 ? budget : WORTH[effort ?? 'medium']
  const fitting = wanted < limit ? wanted : Math.floor(limit / 2)
  const became = defined({
    effort: dialect.thinking === 'budget' ? undefined : effort === 'minimal' ? 'low' : effort,
    budget: Math.max(LEAST_BUDGET, fitting),
    show,
  }) as Reasoning
  return { became, reason: 'budget-made-legal' }
}

/** The assistant is in the midst of calling tools, and its thoughts of before are not to be had. */
function isMidway(request: CanonicalRequest): boolean {
  const turn = lastAnswer(request)
  return (
    turn.some(part => part.type === 'tool-call') &&
    !turn.some(part => part.type === 'reasoning' && part.signature?.format === FORMAT)
  )
}

/** It thought, but on another upstream, whose thoughts do not go to this one: even its own callers must do without. */
const hadThoughts = (request: CanonicalRequest): boolean =>
  lastAnswer(request).some(
    part =>
      part.type === 'reasoning' && (part.signature !== undefined || spelt(part, FORMAT)['signature'] === 'unsigned'),
  )

/** The last turn of the assistant, in however many messages. */
function lastAnswer({ messages }: CanonicalRequest): readonly Part[] {
  const last = messages.findLastIndex(message => message.role === 'assistant')
  if (last === -1) return []
  const first = messages.findLastIndex((message, index) => index < last && message.role !== 'assistant') + 1
  return messages.slice(first, last + 1).flatMap(message => message.content)
}

function report(asked: Reasoning, { became, reason, restated }: Plan, { losses }: Pen): void {
  for (const field of ['effort', 'budget', 'show'] as const) {
    const path = ['reasoning', field]
    const now = became[field]
    if (now === asked[field]) continue
    if (now === undefined) restated ? losses.hide(path, reason) : losses.drop(path, reason)
    else if (restated) losses.rename(path, now, reason)
    else if (asked[field] === undefined) losses.add(path, now, reason)
    else losses.change(path, now, reason)
  }
}
