import type { Loss } from '../canonical/loss.ts'
import { isObject, type Json, type JsonObject, stringIn } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'

/*
 * Values that equal the default, so that dropping them costs the caller nothing. Clients send some of them in every
 * request. If they counted as losses, callers that refuse losses could not send any requests.
 */

type IsDefault = (value: Json) => boolean

const is =
  (...values: readonly Json[]): IsDefault =>
  value =>
    values.includes(value)
const always: IsDefault = () => true
/** Returns true if the value is an object or list that is empty at every depth. */
const empty: IsDefault = value => typeof value === 'object' && value !== null && Object.values(value).every(empty)
const direct: IsDefault = value => Array.isArray(value) && value.every(is('direct'))
const text: IsDefault = value => Array.isArray(value) && value.every(is('text'))

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
const onlyPadding: IsDefault = value => isObject(value) && Object.keys(value).every(is('include_obfuscation'))

/** Returns true if the value contains only Gemini's `…_UNSPECIFIED` enum values, at every depth. */
const unspecified: IsDefault = value =>
  isObject(value) ? Object.values(value).every(unspecified) : typeof value === 'string' && /UNSPECIFIED$/.test(value)

/** Tests for default values, by loss path. `#` matches any index. */
const DEFAULTS: { readonly [path: string]: IsDefault } = {
  'sampling/temperature': is(1),
  'sampling/topP': is(1),
  'sampling/frequencyPenalty': is(0),
  'sampling/presencePenalty': is(0),
  'sampling/stop': empty,
  'state/store': is(false),
  'state/background': is(false),
  metadata: empty,
  serviceTier: is('auto', 'default'),
  'output/verbosity': is('medium'),
  'output/candidates': is(1),
  'output/modalities': text,
  'output/image/size': is('auto'),
  'output/image/quality': is('auto'),
  'output/image/background': is('auto'),
  'output/image/moderation': is('auto'),
  parallelToolCalls: is(true),
  'tools/#/strict': is(false),
  'reasoning/budget': is(-1),

  'extras/chat/logit_bias': empty,
  'extras/chat/logprobs': is(false),
  'extras/chat/top_logprobs': is(0),
  'extras/chat/stream_options': onlyPadding,
  'extras/chat/prompt_cache_retention': is('in_memory'),

  // Codex's client metadata is for OpenAI's statistics. The model never sees it.
  'extras/responses/client_metadata': always,
  'extras/responses/context_management': empty,
  'extras/responses/prompt_cache_retention': is('in_memory'),
  // The upstream receives all the reasoning that it accepts anyway.
  'reasoning/extras/responses/context': is('auto', 'all_turns'),
  // A tool with deferred loading can also be loaded from the start.
  'tools/#/extras/responses/defer_loading': always,
  'tools/#/extras/responses/allowed_callers': direct,

  'extras/messages/mcp_servers': empty,
  'extras/messages/context_management': value => empty(value) || keepsAllReasoning(value),
  'extras/messages/inference_geo': is('global'),
  'extras/messages/speed': is('standard'),
  'tools/#/extras/messages/defer_loading': always,
  'tools/#/extras/messages/allowed_callers': direct,
  // The field only affects how stream events split the arguments.
  'tools/#/extras/messages/eager_input_streaming': always,

  'extras/contents/safetySettings': empty,
  'extras/contents/generationConfig': unspecified,
  'tools/#/extras/contents/behavior': is('UNSPECIFIED', 'BLOCKING'),
}

/** Marks the losses of default values as restored. Returns the same list if there are none. */
export function markDefaults(losses: readonly Loss[], request: CanonicalRequest): readonly Loss[] {
  let found = false
  const marked = losses.map((loss): Loss => {
    if (!losesDefault(loss, request)) return loss
    found = true
    return { ...loss, restored: true }
  })
  return found ? marked : losses
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
