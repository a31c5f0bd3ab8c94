import { defined, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Effort, Reasoning } from '../../canonical/request.ts'
import type { ConverseDialect } from '../../formats/dialects/converse.ts'
import { isMidway } from '../sanitize/last-answer.ts'
import { type Circumstances, displayOf, maxAnswerTokens, planThinking, reportPlan } from '../sanitize/thinking-plan.ts'
import { FORMAT, type WriteContext } from './context.ts'

/** The written thinking settings, with the values on which sampling and limits depend. */
export interface Thinking {
  /** Fields of the model. */
  readonly fields?: JsonObject
  /** The effort in `outputConfig`. */
  readonly effort?: string
  /** True if the upstream will think as Claude does. */
  readonly on: boolean
  readonly budget?: number
  /** True if the model takes no output limit and no sampling parameters with these settings. */
  readonly unlimited?: boolean
}

const NO_THINKING: Thinking = { on: false }

/** Default for models without declared support for thinking, which get no thinking settings. */
const DEFAULT_THINKING = { thinking: 'none' } as const

/** Writes the reasoning settings in a form that is valid for the model (traps 26, 38, 41, 93). */
export function writeThinking(request: CanonicalRequest, forced: boolean, context: WriteContext): Thinking {
  const { reasoning } = request
  const { dialect, losses } = context
  if (reasoning === undefined) return NO_THINKING
  const circumstances = { forced, limit: maxAnswerTokens(request, dialect), midway: () => isMidway(request, FORMAT) }
  const field = fieldOf(dialect)
  if (field !== undefined) return writeEffort(reasoning, field, circumstances, context)
  const plan = planThinking(reasoning, circumstances, { ...DEFAULT_THINKING, ...dialect })
  reportPlan(reasoning, plan, losses)
  const { effort, budget, show } = plan.became
  if (effort === undefined && budget === undefined) return NO_THINKING
  if (effort === 'none') return { fields: { thinking: { type: 'disabled' } }, on: false }
  const hasBudget = budget !== undefined && budget > 0
  if (hasBudget && show === undefined) losses.add(['reasoning', 'show'], true, 'minted-default-display')
  const wire = hasBudget ? { type: 'enabled', budget_tokens: budget } : { type: 'adaptive' }
  const thinking = { ...wire, ...defined({ display: displayOf(show) }) }
  return { fields: { thinking }, on: true, ...defined({ effort, budget: hasBudget ? budget : undefined }) }
}

type EffortField = Exclude<NonNullable<ConverseDialect['effort_field']>, 'thinking'>

/** Functions that write an effort in the fields of models of other vendors (docs/wire/converse.md#models). */
const EFFORT_FIELDS: { readonly [F in EffortField]: (effort: Effort) => Json } = {
  reasoning_effort: effort => effort,
  reasoning: effort => ({ effort }),
  reasoning_config: effort => effort,
  reasoningConfig: effort =>
    effort === 'none' ? { type: 'disabled' } : { type: 'enabled', maxReasoningEffort: effort },
}

/** Returns the field for efforts of a model that thinks in another way than Claude. */
const fieldOf = ({ thinking, effort_field: field = 'thinking' }: ConverseDialect): EffortField | undefined =>
  field === 'thinking' || thinking === undefined || thinking === 'none' ? undefined : field

/** Writes the effort. The models have no budgets, and cannot hide or show their reasoning. */
function writeEffort(
  reasoning: Reasoning,
  field: EffortField,
  circumstances: Circumstances,
  { dialect, losses }: WriteContext,
): Thinking {
  const plan = planThinking(reasoning, circumstances, { ...dialect, thinking: 'adaptive' })
  const { effort } = plan.became
  reportPlan(reasoning, { ...plan, became: effort === undefined ? {} : { effort } }, losses)
  if (effort === undefined) return NO_THINKING
  const unlimited = field === 'reasoningConfig' && effort === 'high'
  return { fields: { [field]: EFFORT_FIELDS[field](effort) }, on: false, unlimited }
}
