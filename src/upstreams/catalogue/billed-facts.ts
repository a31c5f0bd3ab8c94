import { recordingLength } from '../../canonical/media/recording-length.ts'
import { isObject, type JsonObject, unchangedWire } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult, Transcript, Usage } from '../../canonical/result.ts'
import type { CanonicalTask } from '../../canonical/task.ts'
import { type Work, workOf } from '../../canonical/work.ts'
import { isCounted } from '../../store/usage/row.ts'

/** Facts about an answer, beside its tokens, on which its cost depends. */
export interface BilledFacts {
  /** Service tier that served the request, such as `priority`. The usual one if absent. */
  readonly tier?: string | undefined
  /** Length of the transcribed recording, in seconds. */
  readonly seconds?: number | undefined
  /** Number of generated images. */
  readonly images?: number | undefined
  /** Number of characters of the text to speak. */
  readonly characters?: number | undefined
  /** Number of searches that a ranking counts as, if its upstream does not count them. */
  readonly rankings?: number | undefined
  /** Length of the generated video, in seconds. */
  readonly videoSeconds?: number | undefined
  /** Time of a voice session since its last charge, in seconds. */
  readonly sessionSeconds?: number | undefined
  /** Name that the answer gives its model. Its prices count if the requested name has none, such as a deployment's. */
  readonly model?: string | undefined
  /** Models that may answer instead of the requested one, by the caller's names. */
  readonly otherModels?: readonly string[] | undefined
  /** Number of queries of the web searches. */
  readonly queries?: number | undefined
}

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

/** Returns the facts that a request states, on which the cost of its answer depends until the answer states others. */
export function requestedFacts(request: CanonicalRequest): BilledFacts {
  const models = { tier: requestedTier(request), otherModels: otherModelsIn(request) }
  const { candidates = 1, video } = request.output
  const work = workOf(request)
  if (work === 'image') return { ...models, images: candidates }
  if (work === 'speech') return { ...models, characters: charactersOf(request) }
  if (work === 'ranking') return { ...models, rankings: Math.ceil(request.messages.length / DOCUMENTS_PER_SEARCH) }
  if (work === 'transcription') return { ...models, seconds: recordedSeconds(request) }
  if (work !== 'video') return models
  // A task makes one video, however many are requested.
  return { ...models, videoSeconds: video?.seconds ?? USUAL_VIDEO_SECONDS }
}

/** Number of documents that a search may rank (docs/wire/rerank.md#meta). */
const DOCUMENTS_PER_SEARCH = 100

/** Number of tokens per second of a recording, as OpenAI counts them. */
const TOKENS_PER_SECOND = 10

/** Estimates the length of all recordings of a request in seconds. Returns undefined if one has an unknown size. */
function recordedSeconds({ messages }: CanonicalRequest): number | undefined {
  let sum: number | undefined
  for (const { content } of messages)
    for (const part of content) {
      if (part.type !== 'media') continue
      const length = recordingLength(part)
      if (length === undefined) return undefined
      sum = (sum ?? 0) + length
    }
  return plausibleSeconds(sum)
}

/**
 * Returns the facts on which the cost of an expected answer depends: also that of a transcript whose upstream states no
 * length.
 */
export const expectedFacts = ({ input = 0 }: Usage, work: Work, requested: BilledFacts): BilledFacts => ({
  ...requested,
  seconds: work === 'transcription' ? (requested.seconds ?? input / TOKENS_PER_SECOND) : undefined,
})

/** Length of a video whose length neither the request nor the answer states, in seconds. */
const USUAL_VIDEO_SECONDS = 8

/** Returns the number of characters, not of UTF-16 units, of all texts of a request. */
function charactersOf({ messages }: CanonicalRequest): number {
  let count = 0
  for (const { content } of messages)
    for (const part of content) if (part.type === 'text') for (const _ of part.text) count++
  return count
}

/** Returns the billed length of a task's video. A task that failed at once is not billed. */
export function videoSecondsOf({ state, seconds }: CanonicalTask, requested: BilledFacts): number | undefined {
  if (state === 'failed') return 0
  return plausibleSeconds(seconds) ?? requested.videoSeconds
}

/** Returns the number of images in an answer. */
export const imagesIn = ({ candidates }: CanonicalResult): number =>
  candidates.reduce((sum, { content }) => sum + content.filter(isImage).length, 0)

/** Returns true for an image. */
export const isImage = (part: { readonly type: string; readonly kind?: unknown }): boolean =>
  part.type === 'media' && part.kind === 'image'

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
