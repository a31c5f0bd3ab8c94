import type { Part, ReasoningPart } from '../../canonical/content.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Reasoning } from '../../canonical/request.ts'
import { type MessagesDialect, messagesDialect } from '../../formats/dialects/messages.ts'
import { defined, extrasFor, spellingFor } from '../fields.ts'
import { BUDGET_EFFORTS, BUDGETS, effortOf, nearest } from '../sanitize/efforts.ts'
import { isSearch } from '../searches.ts'
import type { ReasoningTarget, WriteOptions } from '../writer.ts'
import { type Block, FORMAT, type WriteContext } from './context.ts'
import { mostTokens } from './sampling.ts'

/** The written thinking settings, with the values that sampling and limits depend on. */
export interface Thinking {
  readonly thinking?: JsonObject
  readonly effort?: string
  /** Whether the upstream will think. */
  readonly on: boolean
  readonly budget?: number
}

const NOTHING: Thinking = { on: false }

const displayOf = (show: boolean | undefined): string | undefined =>
  show === undefined ? undefined : show ? 'summarized' : 'omitted'

/**
 * Rewrites thinking settings of a native caller that the upstream cannot take. Returns the changed fields of the body.
 */
export function nativeThinking(request: CanonicalRequest, body: JsonObject, context: WriteContext): Block {
  const { reasoning } = request
  if (reasoning === undefined) return {}
  if (isObject(body['thinking']) && body['thinking']['type'] === 'enabled')
    return isMidway(request) && reasonedElsewhere(request) ? withoutReasoning(reasoning, body, context) : {}
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
 * Requests thinking without a budget, or no thinking. A budget requires the earlier reasoning, which went to an
 * upstream of another format.
 */
function withoutReasoning(reasoning: Reasoning, body: JsonObject, context: WriteContext): Block {
  const adaptive = context.dialect.thinking === 'adaptive' || context.dialect.thinking === 'both'
  const became: Reasoning = adaptive ? { budget: -1, ...defined({ show: reasoning.show }) } : OFF
  report(reasoning, { became, reason: 'no-signed-thinking' }, context)
  const display = defined({ display: displayOf(reasoning.show) })
  const thinking = adaptive ? { type: 'adaptive', ...display } : { type: 'disabled' }
  return { thinking, ...withoutEffort(body) }
}

/**
 * Writes the canonical reasoning settings, made valid for the upstream (traps 26, 38, 41, 93).
 *
 * @param forced whether a tool has to be called, which a thinking budget does not allow.
 */
export function writeThinking(request: CanonicalRequest, forced: boolean, context: WriteContext): Thinking {
  const { reasoning } = request
  if (reasoning === undefined) return NOTHING
  const plan = planned(reasoning, request, forced, context.dialect)
  report(reasoning, plan, context)
  const { effort, budget, show } = plan.became
  if (effort === undefined && budget === undefined) return NOTHING
  if (effort === 'none') return turnedOff(reasoning, context)
  const enabled = budget !== undefined && budget > 0
  if (enabled && show === undefined) context.losses.add(['reasoning', 'show'], true, 'minted-default-display')
  const wire = enabled ? { type: 'enabled', budget_tokens: budget } : { type: 'adaptive' }
  const thinking = { ...wire, ...defined({ display: displayOf(show) }), ...extrasFor(reasoning, FORMAT) } as JsonObject
  return { thinking, on: true, ...defined({ effort, budget: enabled ? budget : undefined }) }
}

/** Turns thinking off, or allows it only between tool calls if the model supports no less. */
function turnedOff(reasoning: Reasoning, { dialect, losses }: WriteContext): Thinking {
  const extras = extrasFor(reasoning, FORMAT)
  if (dialect.thinking_off !== 'between_tools') return { thinking: { type: 'disabled', ...extras }, on: false }
  const thinking = { ...extras, type: 'between_tools' }
  losses.change(['reasoning'], { budget: -1, extras: { [FORMAT]: thinking } }, 'thinks-between-tools')
  return { thinking, on: true }
}

/**
 * Whether the last turn of the assistant has only reasoning of other upstreams. Such reasoning is not sent, not even
 * for native callers.
 */
function reasonedElsewhere(request: CanonicalRequest): boolean {
  const reasoning = lastAnswer(request).filter(part => part.type === 'reasoning')
  const isForeign = (part: ReasoningPart): boolean =>
    part.signature !== undefined || spellingFor(part, FORMAT)['signature'] === 'unsigned'
  return !reasoning.some(isSigned) && reasoning.some(isForeign)
}

/** Reports how the settings differ from the caller's. */
function report(original: Reasoning, { became, reason, restated }: Plan, { losses }: WriteContext): void {
  for (const field of ['effort', 'budget', 'show'] as const) {
    const path = ['reasoning', field]
    const now = became[field]
    if (now === original[field]) continue
    if (now === undefined) restated ? losses.dropRestored(path, reason) : losses.drop(path, reason)
    else if (restated) losses.changeRestored(path, now, reason)
    else if (original[field] === undefined) losses.add(path, now, reason)
    else losses.change(path, now, reason)
  }
}

/**
 * Supported form of the reasoning settings, as a reader reads it back from the request, and the reason for any
 * difference.
 */
interface Plan {
  readonly became: Reasoning
  readonly reason: string
  /** Whether the settings mean the same as the caller's. */
  readonly restated?: true
}

const OFF: Reasoning = { effort: 'none' }

/**
 * Finds the supported form of the reasoning settings for a model with this dialect.
 *
 * @param forced whether a tool has to be called, which a thinking budget does not allow.
 */
function planned(reasoning: Reasoning, request: CanonicalRequest, forced: boolean, dialect: MessagesDialect): Plan {
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

/** Turns thinking off, or requests the least thinking if it cannot be turned off. */
function off({ effort, show }: Reasoning, dialect: MessagesDialect): Plan {
  if (dialect.thinking_off === 'never')
    return { became: adaptive(defined({ effort: 'low', show }) as Reasoning, dialect).became, reason: 'always-thinks' }
  const restated = effort === undefined || effort === 'none'
  return { became: OFF, reason: 'off-is-off', ...(restated ? { restated } : {}) }
}

/** Returns the reason why the request cannot have a thinking budget. Undefined if it can. */
function obstacleTo(request: CanonicalRequest, forced: boolean, dialect: MessagesDialect): string | undefined {
  if (forced) return 'a-tool-is-forced'
  if (isMidway(request)) return 'no-signed-thinking'
  return mostTokens(request, dialect) <= LEAST_BUDGET ? 'no-room-to-think' : undefined
}

/** Requests adaptive thinking with an effort. A budget is mapped to an effort. */
function adaptive({ effort, budget, show }: Reasoning, dialect: MessagesDialect): Plan {
  const tokens = budget !== undefined && budget > 0 ? budget : undefined
  const wanted = effort ?? (tokens === undefined ? undefined : effortOf(tokens))
  const supported = wanted && nearest(wanted, dialect.efforts ?? BUDGET_EFFORTS)
  const became = defined({ effort: supported, budget: supported === undefined ? -1 : undefined, show }) as Reasoning
  if (wanted === undefined) return { became, reason: 'thinking-left-to-the-model' }
  const same = tokens === undefined && supported === effort
  return {
    became,
    reason: tokens === undefined ? 'nearest-effort' : 'said-as-effort',
    ...(same ? { restated: same } : {}),
  }
}

/** Minimum thinking budget, in tokens. */
const LEAST_BUDGET = 1024

/** Requests a budget of at least 1024 tokens that leaves room for an answer. */
function budgeted(reasoning: Reasoning, request: CanonicalRequest, dialect: MessagesDialect): Plan {
  const { effort, budget, show } = reasoning
  const limit = mostTokens(request, dialect)
  const wanted = budget !== undefined && budget > 0 ? budget : BUDGETS[effort ?? 'medium']
  const fitting = wanted < limit ? wanted : Math.floor(limit / 2)
  const efforts = dialect.efforts ?? (dialect.thinking === 'budget' ? [] : BUDGET_EFFORTS)
  const became = defined({
    effort: effort && nearest(effort, efforts),
    budget: Math.max(LEAST_BUDGET, fitting),
    show,
  }) as Reasoning
  return { became, reason: 'budget-made-legal' }
}

/**
 * Whether the last turn of the assistant has calls but does not begin with reasoning that an upstream of this format
 * signed.
 */
function isMidway(request: CanonicalRequest): boolean {
  const turn = lastAnswer(request).filter(isWritten)
  return turn.some(part => part.type === 'tool-call') && !isSigned(turn[0]!)
}

/** Whether the part is reasoning with a signature of this format. */
const isSigned = (part: Part): boolean => part.type === 'reasoning' && part.signature?.format === FORMAT

/** Whether the part is written at all. Empty text parts and unsigned reasoning are not. */
function isWritten(part: Part): boolean {
  if (isSearch(part)) return true
  if (part.type === 'reasoning') return isSigned(part)
  if (part.type === 'tool-call' || (part.type === 'opaque' && part.format === FORMAT)) return true
  return 'text' in part && part.text !== undefined && part.text.trim() !== ''
}

/** Returns the parts of the assistant's last turn, which may be several messages. */
function lastAnswer({ messages }: CanonicalRequest): readonly Part[] {
  const turns: (readonly Part[])[] = []
  for (let index = messages.length - 1; index >= 0; index--) {
    const { role, content } = messages[index]!
    if (role !== 'assistant' && content.length > 0 && turns.length > 0) break
    if (role === 'assistant' && content.some(isWritten)) turns.push(content)
  }
  return turns.reverse().flat()
}

/**
 * Returns reasoning only to its issuer: signed reasoning for all callers (trap 30), unsigned reasoning for native ones.
 */
export function handsBack(reasoning: ReasoningPart, { native, toIssuer }: ReasoningTarget): ReasoningPart | undefined {
  if (!toIssuer) return undefined
  return reasoning.signature?.format === FORMAT || (native && reasoning.signature === undefined) ? reasoning : undefined
}

/**
 * Whether the upstream refuses a signature if anything before it has changed, as the newest families of Claude do
 * ("Preserved thinking", platform.claude.com, read on 2026-11-22). Also true for native callers, because the behaviour
 * of their model is unknown.
 */
export const boundSignatures = ({ dialect, native }: WriteOptions): boolean =>
  native || messagesDialect(dialect).bound_proofs === true
