import type { Loss } from '../canonical/loss.ts'
import { isObject, type Json, type JsonObject, stringIn } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'

/*
 * Values of a request that equal the default: losing them is no loss. Clients write such values into every request, and
 * with losses refused none of their requests would pass.
 */

type Holds = (value: Json) => boolean

const is =
  (...values: readonly Json[]): Holds =>
  value =>
    values.includes(value)
const always: Holds = () => true
/** Empty at every depth. */
const empty: Holds = value => typeof value === 'object' && value !== null && Object.values(value).every(empty)
const direct: Holds = value => Array.isArray(value) && value.every(is('direct'))
const text: Holds = value => Array.isArray(value) && value.every(is('text'))

/** Anthropic's edits of the context that keep all thoughts, as Claude Code asks for them. */
const keepsAll: Holds = value =>
  isObject(value) &&
  Array.isArray(value['edits']) &&
  value['edits'].every(
    edit => isObject(edit) && /^clear_thinking_/.test(stringIn(edit['type'])) && edit['keep'] === 'all',
  )

/** Padding against traffic analysis is no part of an answer. */
const onlyPads: Holds = value => isObject(value) && Object.keys(value).every(is('include_obfuscation'))

const unspecified: Holds = value =>
  isObject(value) ? Object.values(value).every(unspecified) : typeof value === 'string' && /UNSPECIFIED$/.test(value)

/** By the path of the loss, a `#` for every index. */
const DEFAULTS: { readonly [path: string]: Holds } = {
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
  'extras/chat/stream_options': onlyPads,
  'extras/chat/prompt_cache_retention': is('in_memory'),

  // Codex's data about itself, for OpenAI: the model never sees it.
  'extras/responses/client_metadata': always,
  'extras/responses/context_management': empty,
  'extras/responses/prompt_cache_retention': is('in_memory'),
  // All thoughts that an upstream accepts are sent to it.
  'reasoning/extras/responses/context': is('auto', 'all_turns'),
  // A tool that is loaded later may be loaded from the beginning.
  'tools/#/extras/responses/defer_loading': always,
  'tools/#/extras/responses/allowed_callers': direct,

  'extras/messages/mcp_servers': empty,
  'extras/messages/context_management': value => empty(value) || keepsAll(value),
  'extras/messages/inference_geo': is('global'),
  'extras/messages/speed': is('standard'),
  'tools/#/extras/messages/defer_loading': always,
  'tools/#/extras/messages/allowed_callers': direct,
  // How arguments are split into events.
  'tools/#/extras/messages/eager_input_streaming': always,

  'extras/contents/safetySettings': empty,
  'extras/contents/generationConfig': unspecified,
  'tools/#/extras/contents/behavior': is('UNSPECIFIED', 'BLOCKING'),
}

/** The losses, with those of default values marked as restored; the same list where there are none. */
export function markDefaults(losses: readonly Loss[], request: CanonicalRequest): readonly Loss[] {
  let found = false
  const marked = losses.map((loss): Loss => {
    if (!holdsAnyway(loss, request)) return loss
    found = true
    return { ...loss, restored: true }
  })
  return found ? marked : losses
}

function holdsAnyway(loss: Loss, request: CanonicalRequest): boolean {
  if (loss.restored === true) return false
  // OpenAI's newer name of the system role, which no other format has.
  if (loss.kind === 'changed') return loss.became === 'system' && valueAt(request, loss.path) === 'developer'
  if (loss.kind !== 'dropped') return false
  const path = loss.path.map(step => (typeof step === 'number' ? '#' : step)).join('/')
  return Object.hasOwn(DEFAULTS, path) && DEFAULTS[path]!(valueAt(request, loss.path))
}

function valueAt(request: CanonicalRequest, path: Loss['path']): Json {
  let at: unknown = request
  for (const step of path) at = (at as JsonObject | undefined)?.[step]
  return at as Json
}
