import type { Loss } from '../canonical/loss.ts'
import { isObject, type Json, type JsonObject, stringIn } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'

/*
 * Values that equal the default, so that dropping them costs the caller nothing. Clients send some of them in every
 * request. If they counted as losses, callers that refuse losses could not send any requests.
 */

type IsDefault = (value: Json) => boolean

const isOneOf =
  (...values: readonly Json[]): IsDefault =>
  value =>
    values.includes(value)
const isAnything: IsDefault = () => true
/** Returns true if the value is an object or list that is empty at every depth. */
const isEmptyValue: IsDefault = value =>
  typeof value === 'object' && value !== null && Object.values(value).every(isEmptyValue)
const isDirectOnly: IsDefault = value => Array.isArray(value) && value.every(isOneOf('direct'))
const isTextOnly: IsDefault = value => Array.isArray(value) && value.every(isOneOf('text'))

/** Returns true if the value is the list of Anthropic's context edits that keep all reasoning. Claude Code sends it. */
const keepsAllReasoning: IsDefault = value =>
  isObject(value) &&
  Array.isArray(value['edits']) &&
  value['edits'].every(
    edit => isObject(edit) && /^clear_thinking_/.test(stringIn(edit['type'])) && edit['keep'] === 'all',
  )

/**
 * Returns true if the value has only padding options. Padding hides lengths from traffic analysis and is not part of an
 * answer.
 */
const onlyPadding: IsDefault = value => isObject(value) && Object.keys(value).every(isOneOf('include_obfuscation'))

/** Returns true if the value contains only Gemini's `…_UNSPECIFIED` enum values, at every depth. */
const isUnspecified: IsDefault = value =>
  isObject(value) ? Object.values(value).every(isUnspecified) : typeof value === 'string' && /UNSPECIFIED$/.test(value)

/** Tests for default values, by loss path. `#` matches any index. */
const DEFAULTS: { readonly [path: string]: IsDefault } = {
  'sampling/temperature': isOneOf(1),
  'sampling/topP': isOneOf(1),
  'sampling/frequencyPenalty': isOneOf(0),
  'sampling/presencePenalty': isOneOf(0),
  'sampling/stop': isEmptyValue,
  'state/store': isOneOf(false),
  'state/background': isOneOf(false),
  metadata: isEmptyValue,
  serviceTier: isOneOf('auto', 'default'),
  'output/verbosity': isOneOf('medium'),
  'output/candidates': isOneOf(1),
  'output/modalities': isTextOnly,
  'output/image/size': isOneOf('auto'),
  'output/image/quality': isOneOf('auto'),
  'output/image/background': isOneOf('auto'),
  'output/image/moderation': isOneOf('auto'),
  parallelToolCalls: isOneOf(true),
  'tools/#/strict': isOneOf(false),
  'reasoning/budget': isOneOf(-1),

  'extras/chat/logit_bias': isEmptyValue,
  'extras/chat/logprobs': isOneOf(false),
  'extras/chat/top_logprobs': isOneOf(0),
  'extras/chat/stream_options': onlyPadding,
  'extras/chat/prompt_cache_retention': isOneOf('in_memory'),

  // Codex's client metadata is for OpenAI's statistics. The model never sees it.
  'extras/responses/client_metadata': isAnything,
  'extras/responses/context_management': isEmptyValue,
  'extras/responses/prompt_cache_retention': isOneOf('in_memory'),
  // The upstream receives all the reasoning that it accepts anyway.
  'reasoning/extras/responses/context': isOneOf('auto', 'all_turns'),
  // A tool with deferred loading can also be loaded from the start.
  'tools/#/extras/responses/defer_loading': isAnything,
  'tools/#/extras/responses/allowed_callers': isDirectOnly,

  'extras/messages/mcp_servers': isEmptyValue,
  'extras/messages/context_management': value => isEmptyValue(value) || keepsAllReasoning(value),
  'extras/messages/inference_geo': isOneOf('global'),
  'extras/messages/speed': isOneOf('standard'),
  'tools/#/extras/messages/defer_loading': isAnything,
  'tools/#/extras/messages/allowed_callers': isDirectOnly,
  // The field only affects how stream events split the arguments.
  'tools/#/extras/messages/eager_input_streaming': isAnything,

  'extras/contents/safetySettings': isEmptyValue,
  'extras/contents/generationConfig': isUnspecified,
  'tools/#/extras/contents/behavior': isOneOf('UNSPECIFIED', 'BLOCKING'),
}

/** Marks the losses of default values as restored. Returns the same list if there are none. */
export function markDefaults(losses: readonly Loss[], request: CanonicalRequest): readonly Loss[] {
  let hasDefaults = false
  const markedLosses = losses.map((loss): Loss => {
    if (!losesDefault(loss, request)) return loss
    hasDefaults = true
    return { ...loss, restored: true }
  })
  return hasDefaults ? markedLosses : losses
}

/** Returns true if the lost value was a default. */
function losesDefault(loss: Loss, request: CanonicalRequest): boolean {
  if (loss.restored === true) return false
  // `developer` is OpenAI's newer name for the system role. No other format has it.
  if (loss.kind === 'changed') return loss.became === 'system' && valueAt(request, loss.path) === 'developer'
  if (loss.kind !== 'dropped') return false
  const path = loss.path.map(step => (typeof step === 'number' ? '#' : step)).join('/')
  return Object.hasOwn(DEFAULTS, path) && DEFAULTS[path]!(valueAt(request, loss.path))
}

/** Returns the value at a path in the request. */
function valueAt(request: CanonicalRequest, path: Loss['path']): Json {
  let at: unknown = request
  for (const step of path) at = (at as JsonObject | undefined)?.[step]
  return at as Json
}
