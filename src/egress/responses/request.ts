import type { WireRequest } from '../../canonical/exchange.ts'
import { foreign, type Written } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output, Reasoning, Sampling } from '../../canonical/request.ts'
import { defined, kept, spelt } from '../fields.ts'
import { asItCame, legalise } from '../legal.ts'
import type { WriteOptions } from '../writer.ts'
import { FORMAT, type Pen } from './content.ts'
import { responsesDialect } from './dialect.ts'
import { writeHistory } from './input.ts'
import { writeToolChoice, writeTools } from './tools.ts'

/** The canonical request as `POST /responses` (FORMATS §4, §16). */
export function writeRequest(asked: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const dialect = responsesDialect(options.dialect)
  const rule = { name: 64, id: 64, freeform: dialect.custom_tools !== false, namespaces: dialect.stateless !== true }
  const { request, losses, renamed } = options.native ? asItCame(asked) : legalise(asked, rule)
  losses.list.push(...foreign(request, FORMAT))
  const pen: Pen = { dialect, native: options.native, losses }
  const body = {
    model: request.model,
    ...writeHistory(request, pen),
    ...writeTools(request, pen),
    ...writeToolChoice(request, pen),
    ...writeSampling(request.sampling, pen),
    ...writeOutput(request.output, pen),
    ...writeReasoning(request.reasoning, pen),
    ...writeSettings(request, pen),
    ...writeStream(request),
    ...kept(request, FORMAT),
    ...writeInclude(request, pen),
  } as JsonObject
  return { wire: { ...doorOf(request, pen), body }, losses: losses.list, renamed }
}

/** A native request goes through the door it came through. */
function doorOf(request: CanonicalRequest, { native }: Pen): Omit<WireRequest, 'body'> {
  const { path, query, headers } = native ? spelt(request, FORMAT) : {}
  return {
    path: (path as string | undefined) ?? '/responses',
    query: (query as WireRequest['query'] | undefined) ?? {},
    headers: (headers as WireRequest['headers'] | undefined) ?? {},
  }
}

const SAMPLING_LOSSES = { topK: 'no-top-k', seed: 'no-seed', stop: 'no-stop-sequences' }
const PENALTIES = { frequencyPenalty: 'no-penalties', presencePenalty: 'no-penalties' }

/** There are no stop sequences, no seed and no candidates here (trap 18); penalties are a dialect's own. */
function writeSampling(sampling: Sampling, { native, losses }: Pen): JsonObject {
  losses.dropFields(sampling, ['sampling'], native ? SAMPLING_LOSSES : { ...SAMPLING_LOSSES, ...PENALTIES })
  return defined({
    max_output_tokens: sampling.maxTokens,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    frequency_penalty: native ? sampling.frequencyPenalty : undefined,
    presence_penalty: native ? sampling.presencePenalty : undefined,
  }) as JsonObject
}

const PROOFS = 'reasoning.encrypted_content'
const LOGPROBS = 'message.output_text.logprobs'

/**
 * What is wanted beside the answer. Another format's caller gets proofs unasked, so they are asked for here whenever
 * it speaks of reasoning: without them its next turn could not hand the thoughts back.
 */
function writeInclude(request: CanonicalRequest, { dialect, native }: Pen): JsonObject {
  const { include, top } = spelt(request, FORMAT)
  const { logprobs } = request.sampling
  const counted = logprobs === undefined ? top : logprobs === 0 ? (native ? top : undefined) : logprobs
  const top_logprobs = defined({ top_logprobs: counted }) as JsonObject
  if (native) return { ...(include === undefined ? {} : { include }), ...top_logprobs }
  const others = (request.extras?.[FORMAT]?.['include'] as readonly string[] | undefined) ?? []
  const { reasoning } = request
  const thinks = reasoning !== undefined && reasoning.effort !== 'none' && dialect.stateless !== true
  const wanted = [...others, ...(logprobs === undefined ? [] : [LOGPROBS]), ...(thinks ? [PROOFS] : [])]
  return { ...(wanted.length === 0 ? {} : { include: wanted }), ...top_logprobs }
}

const OUTPUT_LOSSES = {
  audio: 'no-audio-settings',
  image: 'no-image-settings',
  video: 'no-video-settings',
  embedding: 'no-embeddings',
  transcript: 'no-transcripts',
}

function writeOutput(output: Output, pen: Pen): JsonObject {
  const { losses } = pen
  losses.dropFields(output, ['output'], OUTPUT_LOSSES)
  const { modalities, candidates, text, verbosity } = output
  if (candidates === 1) losses.hide(['output', 'candidates'], 'one-candidate-anyway')
  else if (candidates !== undefined) losses.drop(['output', 'candidates'], 'one-candidate-only')
  const textOnly = modalities?.every(modality => modality === 'text')
  if (textOnly === true) losses.hide(['output', 'modalities'], 'text-anyway')
  else if (modalities !== undefined) losses.drop(['output', 'modalities'], 'text-only')
  const own = kept(output, FORMAT)
  const format = text === undefined ? undefined : writeShape(text, pen)
  const told = { ...(defined({ format, verbosity }) as JsonObject), ...own }
  return Object.keys(told).length > 0 || spelt(output, FORMAT)['own'] !== undefined ? { text: told } : {}
}

function writeShape(text: NonNullable<Output['text']>, { native, losses }: Pen): JsonObject {
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

/** Thoughts are not shown unless asked for, so the wish to hide them needs no words. */
function writeReasoning(reasoning: Reasoning | undefined, { native, losses }: Pen): JsonObject {
  if (reasoning === undefined) return {}
  if (reasoning.budget !== undefined) losses.drop(['reasoning', 'budget'], 'no-thinking-budget')
  if (reasoning.show === false) losses.hide(['reasoning', 'show'], 'hidden-unless-asked-for')
  const { summary, as } = native ? spelt(reasoning, FORMAT) : {}
  const field = (as as string | undefined) ?? 'summary'
  const told = {
    ...defined({ effort: reasoning.effort, [field]: reasoning.show === true ? (summary ?? 'auto') : undefined }),
    ...kept(reasoning, FORMAT),
  } as JsonObject
  return Object.keys(told).length > 0 || native ? { reasoning: told } : {}
}

function writeSettings(request: CanonicalRequest, pen: Pen): JsonObject {
  if (request.cache !== undefined) pen.losses.drop(['cache'], 'no-cache-marker-of-the-whole')
  const user = !pen.native || spelt(request, FORMAT)['user'] === 'user' ? 'user' : 'safety_identifier'
  return defined({
    parallel_tool_calls: request.parallelToolCalls,
    ...writeState(request, pen),
    [user]: request.endUser,
    metadata: request.metadata,
    service_tier: request.serviceTier,
    prompt_cache_key: request.cacheKey,
  }) as JsonObject
}

const STATE_LOSSES = {
  store: 'no-kept-answers',
  previous: 'no-kept-answers',
  conversation: 'no-conversations',
  background: 'no-background-work',
}

function writeState({ state, ...request }: CanonicalRequest, { dialect, native, losses }: Pen) {
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

function writeStream(request: CanonicalRequest): JsonObject {
  if (request.stream) return { stream: true }
  return spelt(request, FORMAT)['stream'] === false ? { stream: false } : {}
}
