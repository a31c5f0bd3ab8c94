import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { type Effort, isEffort, type Reasoning } from '../../canonical/request.ts'
import { defined, extrasOf, text } from '../fields.ts'
import { FORMAT } from './wire.ts'

/*
 * Fields in which callers of `chat` set reasoning. Most are specific to one vendor
 * (docs/wire/chat.md#reasoning-settings).
 */

/** Reasoning settings of a request, and the fields that they were read from. */
export interface ReadReasoning {
  readonly reasoning?: Reasoning
  /** Fields that were read, which therefore do not become extras. */
  readonly fields: readonly string[]
  /** Template arguments other than the switches. They become extras of the request. */
  readonly templateArguments?: JsonObject
}

type Settings = Omit<ReadReasoning, 'fields'>

/**
 * A field that sets reasoning, its companion fields, and its reader. The reader returns undefined for unknown values.
 */
interface Switch {
  readonly field: string
  readonly companions: readonly string[]
  readonly read: (body: JsonObject) => Settings | undefined
}

const NO_SETTINGS: ReadReasoning = { fields: [] }

/** Switches in order of precedence. If a request has several, the first is read and the others become extras. */
const SWITCHES: readonly Switch[] = [
  { field: 'thinking', companions: ['reasoning_effort'], read: readThinking },
  { field: 'reasoning_effort', companions: [], read: readEffort },
  { field: 'reasoning', companions: [], read: readObject },
  { field: 'enable_thinking', companions: ['thinking_budget'], read: readEnabled },
  { field: 'thinking_budget', companions: [], read: readEnabled },
  { field: 'chat_template_kwargs', companions: [], read: readTemplateArguments },
]

/** The fields of all switches. */
export const REASONING_FIELDS = [...SWITCHES.map(({ field }) => field), 'include_reasoning'] as const

/** Reads the reasoning settings of a request (docs/wire/chat.md#reasoning-settings). */
export function readReasoning(body: JsonObject): ReadReasoning {
  // Refuse an effort of the wrong type even if another switch is read.
  text(body['reasoning_effort'])
  const found = switchIn(body)
  const shows = typeof body['include_reasoning'] === 'boolean' ? body['include_reasoning'] : undefined
  if (found === undefined && shows === undefined) return NO_SETTINGS
  const read = found === undefined ? { reasoning: {} } : found.read(body)
  if (read === undefined) return NO_SETTINGS
  const readFields =
    found === undefined ? [] : [found.field, ...found.companions.filter(one => !isOverruled(one, body))]
  if (shows === undefined || read.reasoning?.show !== undefined) return { ...read, fields: readFields }
  return { ...read, reasoning: { ...read.reasoning, show: shows }, fields: [...readFields, 'include_reasoning'] }
}

/** Returns the switch that sets reasoning in a request. Uses a loop for speed, because most requests have no switch. */
function switchIn(body: JsonObject): Switch | undefined {
  for (const one of SWITCHES) {
    const value = body[one.field]
    if (value != null && isSwitch(one.field, value)) return one
  }
  return undefined
}

/** Returns true if the field sets reasoning in this request. Template arguments count only if they contain a switch. */
const isSwitch = (field: string, value: Json | undefined): boolean =>
  field !== 'chat_template_kwargs' || (isObject(value) && templateSwitch(value) !== undefined)

function readEffort(body: JsonObject): Settings | undefined {
  const effort = body['reasoning_effort']
  return isEffort(effort) ? { reasoning: { effort } } : undefined
}

const OBJECT_FIELDS = new Set(['effort', 'max_tokens', 'exclude', 'enabled'])

/** Reads OpenRouter's `reasoning` object. */
function readObject({ reasoning: wire }: JsonObject): Settings | undefined {
  if (!isObject(wire) || !isReasoningObject(wire)) return undefined
  const { effort, max_tokens: budget, exclude, enabled } = wire as ReasoningObject
  const show = exclude === undefined ? undefined : !exclude
  const isPlain = effort === undefined && budget === undefined
  // `enabled` adds nothing to a level, unless the two contradict each other.
  const unreadFields = isPlain || enabled === true ? [] : ['enabled']
  const level =
    isPlain && enabled !== undefined ? reasoningOf(enabled ? undefined : NO_EFFORT, undefined) : { effort, budget }
  return { reasoning: { ...defined({ ...level, show }), ...extrasOf(FORMAT, wire, OBJECT_FIELDS, unreadFields) } }
}

interface ReasoningObject {
  readonly effort?: Effort
  readonly max_tokens?: number
  readonly exclude?: boolean
  readonly enabled?: boolean
}

const isReasoningObject = ({ effort, max_tokens, exclude, enabled }: JsonObject): boolean =>
  (effort === undefined || isEffort(effort)) &&
  (max_tokens === undefined || typeof max_tokens === 'number') &&
  [exclude, enabled].every(one => one === undefined || typeof one === 'boolean')

const THINKING_FIELDS = new Set(['type', 'budget_tokens', 'effort'])

/** Values of `thinking.type` that turn thinking on. */
const ENABLED: ReadonlySet<Json | undefined> = new Set(['enabled', 'adaptive', 'auto'])

const NO_EFFORT = 'none'

/**
 * Reads `thinking: { type }`, which DeepSeek, Z.AI, Kimi and MiniMax accept. The effort may be inside this object or
 * next to it.
 */
function readThinking({ thinking: wire, reasoning_effort: outerEffort }: JsonObject): Settings | undefined {
  if (!isObject(wire)) return undefined
  const { type, budget_tokens: budget, effort = outerEffort ?? undefined } = wire
  if (effort !== undefined && !isEffort(effort)) return undefined
  if (budget !== undefined && typeof budget !== 'number') return undefined
  const extras = extrasOf(FORMAT, wire, THINKING_FIELDS)
  if (type === 'disabled') return { reasoning: { effort: NO_EFFORT, ...extras } }
  if (!ENABLED.has(type)) return undefined
  return { reasoning: { ...reasoningOf(effort, budget), ...extras } }
}

/** Returns true for an effort beside `thinking` that differs from the effort inside. It is not read. */
const isOverruled = (companion: string, { thinking, ...body }: JsonObject): boolean =>
  companion === 'reasoning_effort' &&
  isObject(thinking) &&
  thinking['effort'] != null &&
  body[companion] != null &&
  thinking['effort'] !== body[companion]

/** Returns the settings for enabled thinking: effort and budget, or neither if the model decides. */
const reasoningOf = (effort: Effort | undefined, budget: number | undefined): Reasoning =>
  effort === undefined && budget === undefined ? { budget: -1 } : defined({ effort, budget })

/** Reads Qwen's `enable_thinking` and `thinking_budget`. */
function readEnabled({ enable_thinking, thinking_budget: tokens }: JsonObject): Settings | undefined {
  if (enable_thinking != null && typeof enable_thinking !== 'boolean') return undefined
  if (tokens != null && typeof tokens !== 'number') return undefined
  return { reasoning: enable_thinking === false ? { effort: NO_EFFORT } : reasoningOf(undefined, tokens ?? undefined) }
}

/** Names of the switch in the arguments of chat templates. */
const TEMPLATE_SWITCHES = ['enable_thinking', 'thinking'] as const

const templateSwitch = (wire: JsonObject): boolean | undefined => {
  const value = TEMPLATE_SWITCHES.map(name => wire[name]).find(found => found !== undefined)
  return typeof value === 'boolean' ? value : undefined
}

/** Reads the reasoning switch among the template arguments, which vLLM and SGLang accept. */
function readTemplateArguments({ chat_template_kwargs: wire }: JsonObject): Settings {
  const { enable_thinking: _, thinking: __, ...rest } = wire as JsonObject
  const reasoning: Reasoning = templateSwitch(wire as JsonObject) ? { budget: -1 } : { effort: NO_EFFORT }
  return { reasoning, ...(Object.keys(rest).length === 0 ? {} : { templateArguments: rest }) }
}

/** Returns the names of the remaining switches in the body, which become extras. */
export const unreadSwitches = (body: JsonObject, { fields: readFields }: ReadReasoning): string[] =>
  REASONING_FIELDS.filter(field => body[field] != null && !readFields.includes(field))
