import type { Unwritten } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output, Reasoning, Sampling, State } from '../../canonical/request.ts'
import { reportCompletion } from '../completion.ts'
import { defined, kept, spelt } from '../fields.ts'
import { endUserOf } from '../sanitize/end-user.ts'
import { supportedTier } from '../sanitize/tiers.ts'
import { FORMAT, type WriteContext } from './content.ts'

/* The settings of a request besides its history and tools; an answer repeats them. */

const SAMPLING_LOSSES = { topK: 'no-top-k', seed: 'no-seed', stop: 'no-stop-sequences' }
const PENALTIES = { frequencyPenalty: 'no-penalties', presencePenalty: 'no-penalties' }

/** The minimum limit. */
const LEAST_TOKENS = 16

/** The format has no stop sequences, seeds and candidates (trap 18); penalties exist in dialects only. */
export function writeSampling(sampling: Sampling, { native, losses }: WriteContext): JsonObject {
  const { maxTokens } = sampling
  const tooFew = !native && maxTokens !== undefined && maxTokens < LEAST_TOKENS
  if (tooFew) losses.change(['sampling', 'maxTokens'], LEAST_TOKENS, 'sixteen-tokens-at-least')
  losses.dropFields(sampling, ['sampling'], native ? SAMPLING_LOSSES : { ...SAMPLING_LOSSES, ...PENALTIES })
  return defined({
    max_output_tokens: tooFew ? LEAST_TOKENS : maxTokens,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    frequency_penalty: native ? sampling.frequencyPenalty : undefined,
    presence_penalty: native ? sampling.presencePenalty : undefined,
  }) as JsonObject
}

const OUTPUT_LOSSES = {
  audio: 'no-audio-settings',
  image: 'no-image-settings',
  video: 'no-video-settings',
  embedding: 'no-embeddings',
  transcript: 'no-transcripts',
}

export function writeOutput(output: Output, context: WriteContext): JsonObject {
  const { losses } = context
  const drawing = output.modalities?.length === 1 && output.modalities[0] === 'image'
  losses.dropFields(drawing ? { ...output, image: undefined } : output, ['output'], OUTPUT_LOSSES)
  reportCompletion(output, losses)
  const { modalities, candidates, text, verbosity } = output
  if (candidates === 1) losses.hide(['output', 'candidates'], 'one-candidate-anyway')
  else if (candidates !== undefined) losses.drop(['output', 'candidates'], 'one-candidate-only')
  const textOnly = modalities?.every(modality => modality === 'text')
  if (textOnly === true) losses.hide(['output', 'modalities'], 'text-anyway')
  else if (modalities !== undefined && !drawing) losses.drop(['output', 'modalities'], 'text-only')
  const own = kept(output, FORMAT)
  const format = text === undefined ? undefined : writeShape(text, context)
  const fields = { ...(defined({ format, verbosity }) as JsonObject), ...own }
  return Object.keys(fields).length > 0 || spelt(output, FORMAT)['own'] !== undefined ? { text: fields } : {}
}

function writeShape(text: NonNullable<Output['text']>, { native, losses }: WriteContext): JsonObject {
  if (text.shape === 'text') return { type: 'text', ...kept(text, FORMAT) }
  if (text.shape === 'json') return { type: 'json_object', ...kept(text, FORMAT) }
  const { schema, description, strict } = text
  if (text.name === undefined && !native) losses.add(['output', 'text', 'name'], 'answer', 'name-required')
  const name = text.name ?? (native ? undefined : 'answer')
  return {
    type: 'json_schema',
    ...(defined({ name, description, schema, strict }) as JsonObject),
    ...kept(text, FORMAT),
  }
}

/** Thoughts are hidden by default, so hiding them needs no field. */
export function writeReasoning(reasoning: Reasoning | undefined, { native, losses }: WriteContext): JsonObject {
  if (reasoning === undefined) return {}
  if (reasoning.budget === -1) losses.hide(['reasoning', 'budget'], 'left-to-the-model-anyway')
  else if (reasoning.budget !== undefined) losses.drop(['reasoning', 'budget'], 'no-thinking-budget')
  if (reasoning.show === false) losses.hide(['reasoning', 'show'], 'hidden-unless-asked-for')
  const { summary, as } = native ? spelt(reasoning, FORMAT) : {}
  const field = (as as string | undefined) ?? 'summary'
  const fields = {
    ...defined({ effort: reasoning.effort, [field]: reasoning.show === true ? (summary ?? 'auto') : undefined }),
    ...kept(reasoning, FORMAT),
  } as JsonObject
  return Object.keys(fields).length > 0 || native ? { reasoning: fields } : {}
}

export const TIERS: ReadonlySet<string> = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast', 'ultrafast'])

export function writeSettings(request: CanonicalRequest, context: WriteContext): JsonObject {
  if (request.cache !== undefined) context.losses.drop(['cache'], 'no-cache-marker-of-the-whole')
  const user = !context.native || spelt(request, FORMAT)['user'] === 'user' ? 'user' : 'safety_identifier'
  return defined({
    ...writeState(request, context),
    [user]: context.native ? request.endUser : endUserOf(request.endUser, context.losses),
    metadata: request.metadata,
    service_tier: supportedTier(request.serviceTier, TIERS, context),
    prompt_cache_key: request.cacheKey,
  }) as JsonObject
}

const STATE_LOSSES: Unwritten<State, 'thread'> = {
  store: 'no-kept-answers',
  previous: 'no-kept-answers',
  conversation: 'no-conversations',
  background: 'no-background-work',
}

function writeState({ state, ...request }: CanonicalRequest, { dialect, native, losses }: WriteContext) {
  losses.dropFields(state, ['state'], { thread: 'no-threads' })
  if (!native && dialect.stateless !== true && storesByDefault(state)) {
    if (state === undefined) losses.add(['state'], { store: false }, 'minted-no-storage')
    else losses.add(['state', 'store'], false, 'minted-no-storage')
    return { store: false }
  }
  if (state === undefined) return {}
  if (!native && dialect.stateless === true) {
    losses.dropFields(state, ['state'], STATE_LOSSES)
    return {}
  }
  const { store, previous, conversation, background } = state
  const object = conversation !== undefined && spelt(request, FORMAT)['conversation'] === 'object'
  return {
    store,
    previous_response_id: previous,
    conversation: (object ? { id: conversation } : conversation) as Json | undefined,
    background,
  }
}

/** Without `store` only this format stores, so it is set to false unless the caller set any state. */
const storesByDefault = (state: State | undefined): boolean =>
  state === undefined || Object.values(state).every(value => value === undefined)
