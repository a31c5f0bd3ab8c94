import type { ReasoningPart } from '../../canonical/content.ts'
import type { Losses } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject, stringIn } from '../../canonical/node.ts'
import type { CanonicalRequest, Reasoning } from '../../canonical/request.ts'
import { messagesDialect } from '../../formats/dialects/messages.ts'
import { defined, extrasFor, spellingFor } from '../fields.ts'
import type { BodyChanges } from '../native.ts'
import { isMidway, losesReasoning } from '../sanitize/last-answer.ts'
import {
  displayOf,
  maxAnswerTokens,
  planThinking,
  reportPlan,
  thinkingWithoutBudget,
} from '../sanitize/thinking-plan.ts'
import type { ReasoningTarget, WriteOptions } from '../writer.ts'
import { type Block, FORMAT, type WriteContext } from './context.ts'

/** The written thinking settings, with the values on which sampling and limits depend. */
export interface Thinking {
  readonly thinking?: JsonObject
  readonly effort?: string
  /** True if the upstream will think. */
  readonly on: boolean
  readonly budget?: number
}

const NO_THINKING: Thinking = { on: false }

/** Returns true if the settings of thinking turn it off. */
export const isDisabled = (thinking: Json | undefined): boolean => isObject(thinking) && thinking['type'] === 'disabled'

/**
 * Rewrites a native caller's thinking settings if the upstream does not accept them. Returns the changed body fields.
 *
 * @param received the request as the caller sent it.
 */
export function nativeThinking(
  request: CanonicalRequest,
  received: CanonicalRequest,
  body: JsonObject,
  context: WriteContext,
): BodyChanges {
  const { reasoning } = request
  if (reasoning === undefined) return {}
  if (context.dialect.thinking_off === 'refused') {
    if (!isDisabled(body['thinking'])) return {}
    context.losses.drop(['reasoning'], 'always-thinks')
    return { thinking: undefined, ...withoutEffort(body) }
  }
  if (isObject(body['thinking']) && body['thinking']['type'] === 'enabled')
    return losesReasoning(request, received, FORMAT)
      ? { thinking: thinkingWithoutBudget(reasoning, context.dialect, context.losses), ...withoutEffort(body) }
      : {}
  // A strict upstream does not accept an effort while thinking is off (trap 39).
  if (reasoning.budget !== 0 || context.dialect.effort_while_off !== false) return {}
  reportNoEffort(reasoning, 'no-effort-while-off', context.losses)
  return withoutEffort(body)
}

/** Reports a dropped effort. Thinking that is off is read as the effort `none` if the request has no other effort. */
export function reportNoEffort({ budget }: Reasoning, reason: string, losses: Losses): void {
  if (budget !== 0) return losses.drop(['reasoning', 'effort'], reason)
  losses.change(['reasoning', 'effort'], 'none', reason)
  losses.dropRestored(['reasoning', 'budget'], reason)
}

const withoutEffort = ({ output_config }: JsonObject): Block => {
  if (!isObject(output_config)) return {}
  const { effort: _, ...others } = output_config
  return { output_config: others }
}

/**
 * Removes the context edits that only a request with thinking can have, if the request has none any more
 * (CLIProxyAPI#4957). Returns the changed body field.
 *
 * @param thinking the thinking settings of the written request.
 */
export function withoutClearedThinking(
  { context_management: context }: JsonObject,
  thinking: Json | undefined,
  { losses }: WriteContext,
): BodyChanges {
  if (isObject(thinking) && CLEARABLE.has(thinking['type'])) return {}
  const edits = isObject(context) && Array.isArray(context['edits']) ? context['edits'] : []
  const others = edits.filter(edit => !(isObject(edit) && stringIn(edit['type']).startsWith('clear_thinking_')))
  if (others.length === edits.length) return {}
  const path = ['extras', FORMAT, 'context_management']
  const changed = others.length === 0 ? undefined : { ...(context as JsonObject), edits: others }
  if (changed === undefined) losses.drop(path, 'no-thinking-to-clear')
  else losses.change(path, changed, 'no-thinking-to-clear')
  return { context_management: changed }
}

/** Kinds of thinking whose reasoning can be cleared from the history. */
const CLEARABLE: ReadonlySet<Json | undefined> = new Set(['enabled', 'adaptive'])

/**
 * Writes the reasoning settings in a form that is valid for the upstream (traps 26, 38, 41, 93).
 *
 * @param forced whether a tool call is forced, which rules out a thinking budget.
 */
export function writeThinking(request: CanonicalRequest, forced: boolean, context: WriteContext): Thinking {
  const { reasoning } = request
  if (reasoning === undefined) return NO_THINKING
  const limit = maxAnswerTokens(request, context.dialect)
  const plan = planThinking(reasoning, { forced, limit, midway: () => isMidway(request, FORMAT) }, context.dialect)
  reportPlan(reasoning, plan, context.losses)
  const { effort, budget, show } = plan.became
  if (effort === undefined && budget === undefined) {
    dropFields(reasoning, context)
    return NO_THINKING
  }
  if (effort === 'none') return withoutThinking(reasoning, context)
  const hasBudget = budget !== undefined && budget > 0
  if (hasBudget && show === undefined) context.losses.add(['reasoning', 'show'], true, 'minted-default-display')
  const wire = hasBudget ? { type: 'enabled', budget_tokens: budget } : { type: 'adaptive' }
  const thinking = { ...wire, ...defined({ display: displayOf(show) }), ...extrasFor(reasoning, FORMAT) } as JsonObject
  return { thinking, on: true, ...defined({ effort, budget: hasBudget ? budget : undefined }) }
}

/**
 * Turns thinking off. If the model cannot turn it off, limits thinking to between tool calls. Both kinds take no further
 * fields, such as the `block_binding` that Zed and goose send with adaptive thinking (Anthropic's OpenAPI description,
 * `ThinkingConfigDisabled`, 2026-11-21).
 */
function withoutThinking(reasoning: Reasoning, context: WriteContext): Thinking {
  const { dialect, losses } = context
  const type = dialect.thinking_off === 'between_tools' ? dialect.thinking_off : 'disabled'
  const isAsked = spellingFor(reasoning, FORMAT)['type'] === type
  const extras = isAsked ? extrasFor(reasoning, FORMAT) : {}
  if (type === 'disabled') {
    if (!isAsked) dropFields(reasoning, context)
    return { thinking: { type, ...extras }, on: false }
  }
  const thinking = { ...extras, type }
  losses.change(['reasoning'], { budget: -1, extras: { [FORMAT]: thinking } }, 'thinks-between-tools')
  return { thinking, on: true }
}

/** Drops the further fields of `thinking`. */
function dropFields({ extras }: Reasoning, { losses }: WriteContext): void {
  if (extras?.[FORMAT] !== undefined) losses.drop(['reasoning', 'extras', FORMAT], 'no-thinking')
}

/**
 * Returns reasoning only to its issuer: signed reasoning for all callers (trap 30), unsigned reasoning only for native
 * callers.
 */
export function reasoningForHistory(
  reasoning: ReasoningPart,
  { native, toIssuer }: ReasoningTarget,
): ReasoningPart | undefined {
  if (!toIssuer) return undefined
  return reasoning.signature?.format === FORMAT || (native && reasoning.signature === undefined) ? reasoning : undefined
}

/**
 * Returns true if the upstream refuses a signature after any change to the preceding content, as the newest Claude
 * families do ("Preserved thinking", platform.claude.com, read on 2026-11-22). Also true for native callers, because
 * the behaviour of their model is unknown.
 */
export const boundSignatures = ({ dialect, native }: WriteOptions): boolean =>
  native || messagesDialect(dialect).bound_proofs === true
