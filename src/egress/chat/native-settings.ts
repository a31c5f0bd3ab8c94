import { type Json, type JsonObject, stringIn } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { withFields } from '../native.ts'
import { withSupportedEffort } from '../sanitize/efforts.ts'
import { type RefusedSetting, refusedSettings, takenLimit } from '../sanitize/refused-settings.ts'
import { FORMAT, type WriteContext } from './content.ts'

/*
 * A native caller chooses its settings for the model that it names. If an alias or a fallback sends its request to
 * another model, the settings that this one refuses are left out or rewritten.
 */

/** The body's fields for each setting that a model can refuse. */
const FIELDS: { readonly [S in RefusedSetting]: readonly string[] } = {
  temperature: ['temperature'],
  topP: ['top_p'],
  logprobs: ['logprobs', 'top_logprobs'],
  frequencyPenalty: ['frequency_penalty'],
  presencePenalty: ['presence_penalty'],
  stop: ['stop'],
  verbosity: ['verbosity'],
}

/** Returns the body without the settings that the dialect excludes. The same body if it has none of them. */
export function withoutRefusedFields(request: CanonicalRequest, body: JsonObject, context: WriteContext): JsonObject {
  const { dialect, losses } = context
  const removed = refusedSettings(request, dialect, losses).flatMap(setting => FIELDS[setting])
  const hasBias = dialect.penalties === false && body['logit_bias'] != null
  if (hasBias) losses.drop(['extras', FORMAT, 'logit_bias'], 'no-penalties')
  return withFields(body, lowerLimit(request, body, context), hasBias ? [...removed, 'logit_bias'] : removed)
}

/** Returns the changed field of a limit above that of the model. */
function lowerLimit(request: CanonicalRequest, body: JsonObject, { dialect, losses }: WriteContext): JsonObject {
  const limit = takenLimit(request, dialect, losses)
  if (limit === undefined || limit === request.sampling.maxTokens) return {}
  return { [body['max_completion_tokens'] == null ? 'max_tokens' : 'max_completion_tokens']: limit }
}

/** Writes an effort that another model does not have as the nearest one, or leaves it out. */
export function withEffortForModel(
  { reasoning }: CanonicalRequest,
  body: JsonObject,
  { dialect, losses }: WriteContext,
): JsonObject {
  const written: Json | undefined = body['reasoning_effort']
  if (reasoning?.effort === undefined || stringIn(written) !== reasoning.effort) return body
  const { effort } = withSupportedEffort(reasoning, dialect.efforts, losses)
  return effort === written ? body : withFields(body, { reasoning_effort: effort })
}
