import type { Losses } from '../../canonical/loss.ts'
import { defined, isImplied, type JsonObject } from '../../canonical/node.ts'
import { type CanonicalRequest, type Effort, isReasoningOff, type Reasoning } from '../../canonical/request.ts'
import type { ChatDialect } from '../../formats/dialects/chat.ts'
import { extrasFor } from '../fields.ts'
import { type NativeRequest, withFields } from '../native.ts'
import { BUDGETS, effortOf, nearest, withoutBudget, withSupportedEffort } from '../sanitize/efforts.ts'
import { FORMAT, type WriteContext } from './content.ts'

/*
 * Fields that control reasoning at `chat` upstreams. They differ between vendors
 * (docs/wire/chat.md#reasoning-settings).
 */

type Switch = NonNullable<ChatDialect['reasoning_as']>

type WriteSwitch = (reasoning: Reasoning, context: WriteContext, extras: JsonObject) => JsonObject

const SWITCHES: { readonly [S in Switch]: WriteSwitch } = {
  reasoning_effort: writeEffort,
  reasoning: writeObject,
  thinking: writeThinking,
  enable_thinking: writeEnabled,
  chat_template_kwargs: writeTemplateArguments,
  none: writeNothing,
}

/** Fields that an upstream understands, by the reasoning switch that it uses. */
const FIELDS_BY_SWITCH: { readonly [S in Switch]: readonly string[] } = {
  reasoning_effort: ['reasoning_effort'],
  reasoning: ['reasoning', 'reasoning_effort'],
  thinking: ['thinking', 'reasoning_effort'],
  enable_thinking: ['enable_thinking', 'thinking_budget'],
  chat_template_kwargs: ['chat_template_kwargs'],
  none: [],
}

/** Fields of all switches. */
const ALL_FIELDS = [...new Set(Object.values(FIELDS_BY_SWITCH).flat())]

/**
 * Writes the reasoning settings in the form of the upstream's switch.
 *
 * @param extras the format's extras of the request, to which template arguments are added.
 */
export function writeReasoning(
  reasoning: Reasoning | undefined,
  extras: JsonObject,
  context: WriteContext,
): JsonObject {
  const { reasoning_as = 'reasoning_effort', reasoning_split } = context.dialect
  const splitField = reasoning_split === true && extras['reasoning_split'] === undefined ? { reasoning_split } : {}
  return reasoning === undefined ? splitField : { ...SWITCHES[reasoning_as](reasoning, context, extras), ...splitField }
}

/**
 * Replaces the switch in a native caller's body with the upstream's switch, if the dialect declares one and the caller
 * only used other switches. Otherwise returns the same body.
 */
export function withNativeSwitch(
  body: JsonObject,
  { reasoning }: CanonicalRequest,
  { wire }: NativeRequest,
  context: WriteContext,
): JsonObject {
  const { reasoning_as: declaredSwitch } = context.dialect
  if (declaredSwitch === undefined || reasoning === undefined) return body
  const usedFields = ALL_FIELDS.filter(field => wire.body[field] != null)
  if (
    usedFields.length === 0 ||
    usedFields.some(
      field => FIELDS_BY_SWITCH[declaredSwitch].includes(field) && !isOffByEffort(field, declaredSwitch, reasoning),
    )
  )
    return body
  return withFields(body, SWITCHES[declaredSwitch](reasoning, context, wire.body), usedFields)
}

/**
 * Returns true if the caller turned reasoning off with the effort `none`, but the upstream can only turn it off with
 * `thinking`.
 */
const isOffByEffort = (field: string, as: Switch, { effort }: Reasoning): boolean =>
  as === 'thinking' && field === 'reasoning_effort' && effort === 'none'

function writeEffort(reasoning: Reasoning, { dialect, losses }: WriteContext): JsonObject {
  const { efforts } = dialect
  const { effort } = withSupportedEffort(withoutBudget(reasoning, FORMAT, efforts, losses), efforts, losses)
  dropOthers(reasoning, losses)
  return defined({ reasoning_effort: effort }) as JsonObject
}

function writeNothing(reasoning: Reasoning, { losses }: WriteContext): JsonObject {
  withoutBudget(reasoning, FORMAT, [], losses)
  dropOthers(reasoning, losses)
  if (reasoning.effort !== undefined) losses.drop(['reasoning', 'effort'], 'no-reasoning-effort')
  return {}
}

/**
 * Reports settings that only another switch can express: whether the answer shows the reasoning, and fields specific to
 * that switch.
 */
function dropOthers(reasoning: Reasoning, losses: Losses): void {
  dropShow(reasoning, losses)
  if (reasoning.extras?.[FORMAT] !== undefined) losses.drop(['reasoning', 'extras', FORMAT], 'in-another-switch')
}

function dropShow(reasoning: Reasoning, losses: Losses): void {
  const path = ['reasoning', 'show']
  if (isImplied(reasoning, 'show')) losses.dropRestored(path, 'the-default')
  else losses.dropFields(reasoning, ['reasoning'], { show: 'no-choice-of-showing' })
}

/** Writes OpenRouter's `reasoning` object. It supports efforts and budgets. */
function writeObject(reasoning: Reasoning, { losses }: WriteContext): JsonObject {
  const { effort, budget, show } = reasoning
  const exclude = show === undefined ? undefined : !show
  const extras = extrasFor(reasoning, FORMAT)
  if (budget === undefined || budget > 0)
    return { reasoning: { ...defined({ effort, max_tokens: budget, exclude }), ...extras } }
  if (budget === 0 || effort !== undefined) {
    const level = effort ?? 'none'
    reportLevel(reasoning, { effort: level }, losses)
    return { reasoning: { ...defined({ effort: level, exclude }), ...extras } }
  }
  return { reasoning: { enabled: true, ...defined({ exclude }), ...extras } }
}

/** Levels of reasoning that a switch can express: off, an effort, a budget, or on without a level. */
type Level = { readonly effort: Effort } | { readonly budget: number }

const OFF: Level = { effort: 'none' }
const ON: Level = { budget: -1 }

/**
 * Reports the level to which the settings were changed, in the form in which readers read it back. If the meaning is
 * the same, the loss is marked as restored.
 */
function reportLevel(reasoning: Reasoning, level: Level, losses: Losses): void {
  const { effort, budget, show, extras } = reasoning
  const formatExtras = extras?.[FORMAT]
  const became: Reasoning = { ...level, ...defined({ show, extras: formatExtras && { [FORMAT]: formatExtras } }) }
  if (became.effort === effort && became.budget === budget) return
  const isSame =
    isReasoningOff(reasoning) === isReasoningOff(level) &&
    (became.effort ?? 'none') === (effort ?? 'none') &&
    !(budget! > 0)
  if (isSame) losses.changeRestored(['reasoning'], became, 'written-as-a-synonym')
  else losses.change(['reasoning'], became, 'budget' in level && level.budget > 0 ? 'said-as-budget' : 'nearest-switch')
}

/** Writes `thinking: { type }`, and an effort next to it if the upstream supports efforts. */
function writeThinking(reasoning: Reasoning, { dialect, losses }: WriteContext): JsonObject {
  const { efforts = [], thinking_on: on = 'enabled', thinking_off } = dialect
  const extras = extrasFor(reasoning, FORMAT)
  const wantsOff = isReasoningOff(reasoning)
  const turnsOff = wantsOff === true && thinking_off !== 'never'
  const level = turnsOff ? OFF : effortLevel(reasoning, efforts as readonly Effort[])
  if (wantsOff !== undefined) reportLevel(reasoning, level, losses)
  dropShow(reasoning, losses)
  if (wantsOff === undefined) return Object.keys(extras).length === 0 ? {} : { thinking: { type: on, ...extras } }
  const effortField = !turnsOff && 'effort' in level ? { reasoning_effort: level.effort } : {}
  return { thinking: { type: turnsOff ? 'disabled' : on, ...extras }, ...effortField }
}

/** Returns the effort nearest to the settings, or just `on` if the upstream has no efforts. */
function effortLevel({ effort, budget = -1 }: Reasoning, efforts: readonly Effort[]): Level {
  const wantedEffort = effort ?? (budget === -1 ? undefined : budget === 0 ? 'none' : effortOf(budget))
  const supportedEffort = wantedEffort && nearest(wantedEffort, efforts)
  return supportedEffort === undefined ? ON : { effort: supportedEffort }
}

/** Writes `enable_thinking`, with a budget if the settings have a budget or an effort. */
function writeEnabled(reasoning: Reasoning, { losses }: WriteContext): JsonObject {
  const off = isReasoningOff(reasoning)
  const { effort, budget = -1 } = reasoning
  const budgetTokens = budget > 0 || effort === undefined ? budget : BUDGETS[effort]
  if (off !== undefined) reportLevel(reasoning, off ? OFF : { budget: budgetTokens }, losses)
  dropOthers(reasoning, losses)
  if (off === undefined) return {}
  return { enable_thinking: !off, ...(off || budgetTokens <= 0 ? {} : { thinking_budget: budgetTokens }) }
}

/**
 * Writes the switch as a chat template argument, under both names that templates use. Templates ignore unknown
 * arguments.
 */
function writeTemplateArguments(reasoning: Reasoning, { losses }: WriteContext, extras: JsonObject): JsonObject {
  const off = isReasoningOff(reasoning)
  if (off !== undefined) reportLevel(reasoning, off ? OFF : ON, losses)
  dropOthers(reasoning, losses)
  if (off === undefined) return {}
  const otherArguments = extras['chat_template_kwargs'] as JsonObject | undefined
  return { chat_template_kwargs: { ...otherArguments, enable_thinking: !off, thinking: !off } }
}
