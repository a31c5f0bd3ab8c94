import type { ReasoningPart } from '../../canonical/content.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Reasoning } from '../../canonical/request.ts'
import { defined, kept, spelt } from '../fields.ts'
import { type Block, FORMAT, type WriteContext } from './content.ts'
import { isMidway, isProved, lastAnswer, OFF, type Plan, planned } from './thinking-plan.ts'

/** The written thinking settings, and what sampling and limits depend on. */
export interface Thinking {
  readonly thinking?: JsonObject
  readonly effort?: string
  /** Whether the upstream will think. */
  readonly on: boolean
  readonly budget?: number
}

const NOTHING: Thinking = { on: false }

/** @param forced whether a tool has to be called, which none can with a thinking budget. */
export function writeThinking(request: CanonicalRequest, forced: boolean, context: WriteContext): Thinking {
  const { reasoning } = request
  if (reasoning === undefined) return NOTHING
  return supportedThinking(reasoning, request, forced, context)
}

const displayOf = (show: boolean | undefined): string | undefined =>
  show === undefined ? undefined : show ? 'summarized' : 'omitted'

/** What of the thinking settings of a native caller cannot be sent as it came, as fields of the body. */
export function ownThinking(request: CanonicalRequest, body: JsonObject, context: WriteContext): Block {
  const { reasoning } = request
  if (reasoning === undefined) return {}
  if (isObject(body['thinking']) && body['thinking']['type'] === 'enabled')
    return isMidway(request) && thoughtElsewhere(request) ? withoutThoughts(reasoning, body, context) : {}
  // A strict upstream takes no effort while thinking is off (trap 39).
  if (reasoning.budget !== 0 || context.dialect.effort_while_off !== false) return {}
  context.losses.drop(['reasoning', 'effort'], 'no-effort-while-off')
  return withoutEffort(body)
}

const withoutEffort = ({ output_config }: JsonObject): Block => {
  if (!isObject(output_config)) return {}
  const { effort: _, ...others } = output_config
  return { output_config: others }
}

/**
 * A budget requires the earlier thoughts, which went to an upstream of another format: the model thinks without a
 * budget, or not at all.
 */
function withoutThoughts(reasoning: Reasoning, body: JsonObject, context: WriteContext): Block {
  const adaptive = context.dialect.thinking === 'adaptive' || context.dialect.thinking === 'both'
  const became: Reasoning = adaptive ? { budget: -1, ...defined({ show: reasoning.show }) } : OFF
  report(reasoning, { became, reason: 'no-signed-thinking' }, context)
  const display = defined({ display: displayOf(reasoning.show) })
  const thinking = adaptive ? { type: 'adaptive', ...display } : { type: 'disabled' }
  return { thinking, ...withoutEffort(body) }
}

/** Canonical settings made valid (traps 26, 38, 41, 93). */
function supportedThinking(
  reasoning: Reasoning,
  request: CanonicalRequest,
  forced: boolean,
  context: WriteContext,
): Thinking {
  const plan = planned(reasoning, request, forced, context.dialect)
  report(reasoning, plan, context)
  const { effort, budget, show } = plan.became
  if (effort === undefined && budget === undefined) return NOTHING
  if (effort === 'none') return turnedOff(reasoning, context)
  const enabled = budget !== undefined && budget > 0
  if (enabled && show === undefined) context.losses.add(['reasoning', 'show'], true, 'minted-default-display')
  const wire = enabled ? { type: 'enabled', budget_tokens: budget } : { type: 'adaptive' }
  const thinking = { ...wire, ...defined({ display: displayOf(show) }), ...kept(reasoning, FORMAT) } as JsonObject
  return { thinking, on: true, ...defined({ effort, budget: enabled ? budget : undefined }) }
}

/** No thinking, or none before the first text where that is the least supported. */
function turnedOff(reasoning: Reasoning, { dialect, losses }: WriteContext): Thinking {
  const own = kept(reasoning, FORMAT)
  if (dialect.thinking_off !== 'between_tools') return { thinking: { type: 'disabled', ...own }, on: false }
  const thinking = { ...own, type: 'between_tools' }
  losses.change(['reasoning'], { budget: -1, extras: { [FORMAT]: thinking } }, 'thinks-between-tools')
  return { thinking, on: true }
}

/**
 * Whether the turn has thoughts of another upstream only, which are not sent to this one, not even for native callers.
 */
function thoughtElsewhere(request: CanonicalRequest): boolean {
  const thoughts = lastAnswer(request).filter(part => part.type === 'reasoning')
  const isForeign = (part: ReasoningPart): boolean =>
    part.signature !== undefined || spelt(part, FORMAT)['signature'] === 'unsigned'
  return !thoughts.some(isProved) && thoughts.some(isForeign)
}

function report(original: Reasoning, { became, reason, restated }: Plan, { losses }: WriteContext): void {
  for (const field of ['effort', 'budget', 'show'] as const) {
    const path = ['reasoning', field]
    const now = became[field]
    if (now === original[field]) continue
    if (now === undefined) restated ? losses.hide(path, reason) : losses.drop(path, reason)
    else if (restated) losses.rename(path, now, reason)
    else if (original[field] === undefined) losses.add(path, now, reason)
    else losses.change(path, now, reason)
  }
}
