import { isObject, type Json, type JsonObject, stringIn } from '../../canonical/node.ts'
import { type CanonicalRequest, CONTINUE, CONTINUE_TURN } from '../../canonical/request.ts'
import { MODEL_LIMIT } from '../losses.ts'
import type { BodyChanges } from '../native.ts'
import { nearest } from '../sanitize/efforts.ts'
import { RANDOM_FIELDS, supportedSampling } from '../sanitize/sampling.ts'
import { maxAnswerTokens } from '../sanitize/thinking-plan.ts'
import type { WriteContext } from './context.ts'
import { refusesAllSampling, SAMPLING_FIELDS } from './sampling.ts'
import { reportNoEffort, writeThinking } from './thinking.ts'

/*
 * A native caller chooses its settings for the model that it names. If an alias or a fallback sends its request to
 * another Claude, the settings that this one refuses are rewritten, such as thinking by a budget.
 */

/**
 * Returns the changes to the body of a native request that the upstream's model requires.
 *
 * @param changed changes to the thinking settings that the turns require.
 */
export function settingsForModel(
  request: CanonicalRequest,
  body: JsonObject,
  changed: BodyChanges,
  context: WriteContext,
): BodyChanges {
  const reasoning = Object.keys(changed).length > 0 ? changed : reasoningForModel(request, body, context)
  const type = typeOf('thinking' in reasoning ? reasoning['thinking'] : body['thinking'])
  const isThinking = type !== undefined && type !== 'disabled'
  return {
    ...limitForModel(request, context),
    ...reasoning,
    ...choiceForModel(request, body, context),
    ...samplingForModel(request, isThinking, context),
    ...(context.dialect.prefill === false || isThinking ? withLastWord(request, body, context) : {}),
  }
}

const typeOf = (thinking: Json | undefined): string | undefined =>
  isObject(thinking) ? stringIn(thinking['type']) : undefined

/** Limits the answer to what the model can write. */
function limitForModel(request: CanonicalRequest, { dialect, losses }: WriteContext): BodyChanges {
  const limit = maxAnswerTokens(request, dialect)
  const { maxTokens } = request.sampling
  if (maxTokens === undefined || limit === maxTokens) return {}
  losses.change(['sampling', 'maxTokens'], limit, MODEL_LIMIT)
  return { max_tokens: limit }
}

/** Rewrites thinking of a kind that the model refuses, or an effort that it does not have. */
function reasoningForModel(request: CanonicalRequest, body: JsonObject, context: WriteContext): BodyChanges {
  const { reasoning } = request
  const type = typeOf(body['thinking'])
  if (reasoning === undefined) return {}
  if (type !== undefined && !takesThinking(type, request, context)) {
    const isForced = request.toolChoice?.mode === 'required' && context.dialect.forced_tools !== false
    const { thinking, effort } = type === BETWEEN_TOOLS ? asLittle(context) : writeThinking(request, isForced, context)
    return { thinking, ...withEffort(body, effort) }
  }
  const { effort } = reasoning
  const { efforts } = context.dialect
  if (effort === undefined || effort === 'none' || efforts === undefined || efforts.includes(effort)) return {}
  const supported = nearest(effort, efforts)
  if (supported === undefined) reportNoEffort(reasoning, 'no-such-effort', context.losses)
  else context.losses.change(['reasoning', 'effort'], supported, 'nearest-effort')
  return withEffort(body, supported)
}

const BETWEEN_TOOLS = 'between_tools'

/** Models by their `thinking` flag that take each kind of thinking. */
const TAKEN_BY: { readonly [type: string]: ReadonlySet<string> } = {
  enabled: new Set(['budget', 'both']),
  adaptive: new Set(['adaptive', 'both']),
}

function takesThinking(type: string, request: CanonicalRequest, { dialect }: WriteContext): boolean {
  if (type === 'disabled') return dialect.thinking !== 'none' && (dialect.thinking_off ?? type) === type
  if (type === BETWEEN_TOOLS) return dialect.thinking_off === type
  const hasRoom = type !== 'enabled' || (request.reasoning?.budget ?? 0) < maxAnswerTokens(request, dialect)
  return hasRoom && TAKEN_BY[type]?.has(dialect.thinking ?? 'both') !== false
}

/** The settings of a model that never thinks, which refuses the whole field. */
const NO_THINKING = { thinking: undefined, effort: undefined }

/** Requests the least thinking of a model that cannot limit it to between tool calls. */
function asLittle({ dialect, losses }: WriteContext) {
  if (dialect.thinking === 'none') {
    losses.drop(['reasoning'], 'no-thinking-between-tools')
    return NO_THINKING
  }
  const type = dialect.thinking_off === 'never' || dialect.thinking_off === 'refused' ? 'adaptive' : 'disabled'
  losses.change(['reasoning'], type === 'adaptive' ? { budget: -1 } : { effort: 'none' }, 'no-thinking-between-tools')
  return { thinking: { type }, effort: undefined }
}

/** Sets the effort in `output_config`, or removes it. */
function withEffort({ output_config }: JsonObject, effort: string | undefined): BodyChanges {
  const { effort: _, ...others } = isObject(output_config) ? output_config : {}
  const config: JsonObject = effort === undefined ? others : { ...others, effort }
  return { output_config: Object.keys(config).length === 0 ? undefined : config }
}

/** Lets the model choose if it refuses forced calls (trap 93). */
function choiceForModel({ toolChoice }: CanonicalRequest, body: JsonObject, context: WriteContext): BodyChanges {
  const { dialect, losses } = context
  const wire = body['tool_choice']
  if (dialect.forced_tools !== false || toolChoice?.mode !== 'required' || !isObject(wire)) return {}
  const { name: _, ...others } = wire
  losses.change(['toolChoice', 'mode'], 'auto', 'no-forced-tools')
  if (toolChoice.only !== undefined) losses.drop(['toolChoice', 'only'], 'no-forced-tools')
  if (toolChoice.hosted !== undefined) losses.drop(['toolChoice', 'hosted'], 'no-forced-tools')
  return { tool_choice: { ...others, type: 'auto' } }
}

/** Removes sampling parameters that the model refuses. `refusedSampling` handles models that refuse all of them. */
function samplingForModel({ sampling }: CanonicalRequest, thinking: boolean, context: WriteContext): BodyChanges {
  if (refusesAllSampling(context)) return {}
  const supported = supportedSampling(sampling, thinking, context.dialect, context.losses)
  const changed = RANDOM_FIELDS.filter(field => supported[field] !== sampling[field])
  return Object.fromEntries(changed.map(field => [SAMPLING_FIELDS[field], supported[field]]))
}

/** Adds a user turn behind a text of the assistant that the model does not continue. */
function withLastWord({ messages }: CanonicalRequest, body: JsonObject, { losses }: WriteContext): BodyChanges {
  const turns = body['messages']
  const last = Array.isArray(turns) ? turns.at(-1) : undefined
  if (!isObject(last) || last['role'] !== 'assistant' || !endsWithText(last['content'])) return {}
  losses.insert(['messages', messages.length], CONTINUE_TURN, 'the-user-speaks-last')
  return { messages: [...(turns as readonly Json[]), { role: 'user', content: CONTINUE }] }
}

const endsWithText = (content: Json | undefined): boolean => {
  const last = Array.isArray(content) ? content.at(-1) : undefined
  return typeof content === 'string' || (isObject(last) && last['type'] === 'text')
}
