import type { Losses } from '../../canonical/loss.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { ResponsesDialect } from '../../formats/dialects/responses.ts'
import type { BodyChanges } from '../native.ts'
import { withSupportedEffort } from '../sanitize/efforts.ts'
import { type RefusedSetting, refusedSettings, takenLimit } from '../sanitize/refused-settings.ts'
import { ENCRYPTED_REASONING, LOGPROBS } from './include.ts'
import { effortsFor, neverReasons, withoutReasoning } from './settings.ts'

/*
 * A native caller chooses its settings for the model that it names. If an alias or a fallback sends its request to
 * another model, the settings that this one refuses are left out or rewritten.
 */

/** The body's field for each setting of its own field. */
const FIELDS: { readonly [S in RefusedSetting]?: string } = {
  temperature: 'temperature',
  topP: 'top_p',
  logprobs: 'top_logprobs',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
}

/** Returns the changes to the settings of a body that the dialect requires. */
export function settingsForModel(
  request: CanonicalRequest,
  body: JsonObject,
  dialect: ResponsesDialect,
  losses: Losses,
): BodyChanges {
  const refused = refusedSettings(request, dialect, losses)
  const removed = refused.flatMap(setting => FIELDS[setting] ?? []).filter(field => body[field] !== undefined)
  const reasons = !neverReasons(dialect)
  const limit = takenLimit(request, dialect, losses)
  return {
    ...(limit === request.sampling.maxTokens ? {} : { max_output_tokens: limit! }),
    ...Object.fromEntries(removed.map(field => [field, undefined])),
    ...(refused.includes('verbosity') ? withoutField(body, 'text', 'verbosity') : {}),
    ...(reasons ? withSupported(request, body, dialect, losses) : withoutSettings(request, body, losses)),
    ...included(body, [...(refused.includes('logprobs') ? [LOGPROBS] : []), ...(reasons ? [] : [ENCRYPTED_REASONING])]),
  }
}

/** Writes an effort that the model does not have as the nearest one, or leaves it out. */
function withSupported(
  request: CanonicalRequest,
  { reasoning: written }: JsonObject,
  dialect: ResponsesDialect,
  losses: Losses,
): BodyChanges {
  const { reasoning } = request
  if (reasoning === undefined || !isObject(written)) return {}
  const { effort } = withSupportedEffort(reasoning, effortsFor(request, dialect), losses)
  if (effort === reasoning.effort) return {}
  return effort === undefined
    ? withoutField({ reasoning: written }, 'reasoning', 'effort')
    : { reasoning: { ...written, effort } }
}

/** Leaves out the settings of reasoning, which models that do not reason refuse. */
function withoutSettings({ reasoning }: CanonicalRequest, body: JsonObject, losses: Losses): BodyChanges {
  if (reasoning === undefined || body['reasoning'] == null) return {}
  return { ...withoutReasoning(withSupportedEffort(reasoning, [], losses), losses), reasoning: undefined }
}

/** Removes a field of an object in the body, and the object if it is empty then. */
function withoutField(body: JsonObject, object: string, field: string): BodyChanges {
  const { [field]: _, ...others } = body[object] as JsonObject
  return { [object]: Object.keys(others).length === 0 ? undefined : others }
}

/** Removes entries of `include`. */
function included({ include }: JsonObject, removed: readonly string[]): BodyChanges {
  if (!Array.isArray(include) || !include.some(one => removed.includes(String(one)))) return {}
  const kept = include.filter(one => !removed.includes(String(one)))
  return { include: kept.length === 0 ? undefined : kept }
}
