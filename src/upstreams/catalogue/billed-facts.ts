import { isObject, type JsonObject, unchangedWire } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Transcript, Usage } from '../../canonical/result.ts'
import { isCounted } from '../../store/usage/row.ts'

/** Facts about an answer, beside its tokens, on which its cost depends. */
export interface BilledFacts {
  /** Service tier that served the request, such as `priority`. The usual one if absent. */
  readonly tier?: string | undefined
  /** Length of the transcribed recording, in seconds. */
  readonly seconds?: number | undefined
  /** Name that the answer gives its model. Its prices count if the requested name has none, such as a deployment's. */
  readonly model?: string | undefined
  /** Models that may answer instead of the requested one, by the caller's names. */
  readonly otherModels?: readonly string[] | undefined
  /** Number of queries of the web searches. */
  readonly queries?: number | undefined
}

/** Facts that a request states before there is an answer. */
export type RequestedFacts = Pick<BilledFacts, 'tier' | 'otherModels'>

/** Returns the facts that a request states. */
export const requestedFacts = (request: CanonicalRequest): RequestedFacts => ({
  tier: requestedTier(request),
  otherModels: otherModelsIn(request),
})

/**
 * Returns the models that the upstream may fall back to: `fallbacks` of Messages (docs/wire/messages.md), and `models` of
 * OpenRouter, which bills the model that answered.
 */
function otherModelsIn({ extras }: CanonicalRequest): readonly string[] | undefined {
  const { messages: { fallbacks } = {}, chat: { models } = {} } = extras ?? {}
  const named = [fallbacks, models].filter(Array.isArray).flat()
  const names = named.map(one => (isObject(one) ? one['model'] : one)).filter(name => typeof name === 'string')
  return names.length === 0 ? undefined : names
}

/**
 * Returns the length of the transcribed recording in seconds, if the upstream states it: in its usage (OpenAI, Mistral),
 * beside the transcript or as the end of the last segment.
 */
export function recordingSeconds(usage: Usage | undefined, transcript: Transcript | undefined): number | undefined {
  const { seconds, prompt_audio_seconds: heard } = usage?.extras?.['transcriptions'] ?? {}
  const stated = [seconds, heard].find(length => typeof length === 'number')
  return plausibleSeconds(stated ?? transcript?.duration ?? transcript?.segments?.at(-1)?.end)
}

/** Returns the length of a recording in seconds, unless it is an upstream's mistake. */
export const plausibleSeconds = (length: number | undefined): number | undefined =>
  length !== undefined && length >= 0 && length <= MAX_SECONDS ? length : undefined

/** Maximum length of a recording, in seconds: a week. A higher one is an upstream's mistake. */
const MAX_SECONDS = 604_800

/**
 * Returns the service tier that a request asks for, until the answer states the one that served it. Messages request
 * fast mode by `speed` (docs/wire/messages.md).
 */
export const requestedTier = ({ serviceTier, extras }: CanonicalRequest): string | undefined =>
  extras?.['messages']?.['speed'] === 'fast' ? 'fast' : serviceTier

/**
 * Returns the usage that an upstream bills. Cohere does not bill the prompt that it adds, which may be a thousand times
 * the caller's own (docs/wire/cohere-chat.md#usage).
 */
export function billedUsage(usage: Usage): Usage {
  const units = unchangedWire<JsonObject>(usage, 'cohere-chat')?.['billed_units']
  if (!isObject(units)) return usage
  const { input_tokens: input, output_tokens: output } = units
  if (typeof input !== 'number' || typeof output !== 'number') return usage
  const billed: Usage = { ...usage, input, output, cacheRead: 0 }
  return isCounted(billed) ? billed : usage
}
