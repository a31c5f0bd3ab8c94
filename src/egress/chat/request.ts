import { foreign, type Losses, type Unwritten, type Written } from '../../canonical/loss.ts'
import { isImplied, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output, Reasoning, Sampling, State } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { reportCompletion } from '../completion.ts'
import { defined, kept, spelt } from '../fields.ts'
import { endUserOf } from '../sanitize/end-user.ts'
import { sanitize, unchanged } from '../sanitize/names.ts'
import { fewStops } from '../sanitize/stops.ts'
import { supportedTier } from '../sanitize/tiers.ts'
import type { WriteOptions } from '../writer.ts'
import { writeAudio, writeModalities } from './audio-output.ts'
import { withShortIds } from './call-ids.ts'
import { around, FORMAT, type WriteContext } from './content.ts'
import { chatDialect } from './dialect.ts'
import { writeMessages } from './messages.ts'
import { writeToolChoice, writeTools } from './tools.ts'

/** The canonical request as `POST /chat/completions` (FORMATS §2, §16). */
export function writeRequest(original: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const dialect = chatDialect(options.dialect)
  const rule = { name: 64, id: 64, freeform: dialect.custom_tools !== false, namespaces: false }
  const { request, losses, renamed } = options.native ? unchanged(original) : sanitize(original, rule)
  if (!options.native) losses.report(foreign(request, FORMAT))
  const context: WriteContext = { dialect, native: options.native, losses }
  const { messages } = dialect.call_ids === 'short' ? withShortIds(request, losses) : request
  const extras = kept(request, FORMAT)
  const tools = writeTools(request, context)
  const body = {
    model: request.model,
    messages: writeMessages(messages, context),
    ...tools,
    ...writeToolChoice(request, tools, context),
    ...writeSampling(request.sampling, request, context),
    ...writeOutput(request.output, context),
    ...writeReasoning(request.reasoning, context),
    ...writeSettings(request, context),
    ...extras,
    ...writeStreaming(request, context, extras),
  } as JsonObject
  const wire = { path: '/chat/completions', query: {}, headers: {}, body }
  return { wire, losses: losses.list, renamed }
}

function writeSampling(
  sampling: Sampling,
  request: CanonicalRequest,
  { dialect, native, losses }: WriteContext,
): JsonObject {
  const { limit, stop, logprobs } = spelt(request, FORMAT)
  if (sampling.topK !== undefined) losses.drop(['sampling', 'topK'], 'no-top-k')
  const stops = native ? sampling.stop : fewStops(sampling.stop, 4, losses)
  const field = native ? (limit ?? 'max_completion_tokens') : (dialect.limit_field ?? 'max_completion_tokens')
  return defined({
    [field as string]: sampling.maxTokens,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    frequency_penalty: sampling.frequencyPenalty,
    presence_penalty: sampling.presencePenalty,
    seed: sampling.seed,
    stop: stop === 'string' && stops?.length === 1 ? stops[0] : stops,
    logprobs: sampling.logprobs === undefined ? logprobs : true,
    top_logprobs: sampling.logprobs === 0 ? undefined : sampling.logprobs,
  }) as JsonObject
}

function writeOutput(output: Output, context: WriteContext): JsonObject {
  context.losses.dropFields(output, ['output'], OUTPUT_LOSSES)
  reportCompletion(output, context.losses)
  const { candidates, text, verbosity } = output
  return defined({
    modalities: writeModalities(output, context),
    n: candidates,
    response_format: text === undefined ? undefined : writeShape(text, context),
    verbosity,
    audio: writeAudio(output, context),
  }) as JsonObject
}

const OUTPUT_LOSSES: Unwritten<
  Output,
  'modalities' | 'candidates' | 'text' | 'verbosity' | 'audio' | 'ranking' | 'completion' | 'count' | 'compaction'
> = {
  image: 'no-image-settings',
  video: 'no-video-settings',
  embedding: 'no-embeddings',
  transcript: 'no-transcripts',
}

function writeShape(text: NonNullable<Output['text']>, { dialect, native, losses }: WriteContext): JsonObject {
  if (text.shape === 'text') return { type: 'text', ...kept(text, FORMAT) }
  if (text.shape === 'json') return { type: 'json_object', ...kept(text, FORMAT) }
  if (!native && dialect.json_schema === false) {
    losses.change(['output', 'text'], { shape: 'json' }, 'no-json-schema')
    return { type: 'json_object' }
  }
  const { schema, description, strict } = text
  if (text.name === undefined && !native) losses.add(['output', 'text', 'name'], 'answer', 'name-required')
  const name = text.name ?? (native ? undefined : 'answer')
  return around(text, 'json_schema', defined({ name, description, schema, strict }) as JsonObject)
}
const REASONING_LOSSES: Unwritten<Reasoning, 'effort' | 'show'> = { budget: 'no-thinking-budget' }

function writeReasoning(reasoning: Reasoning | undefined, { dialect, native, losses }: WriteContext): JsonObject {
  if (reasoning === undefined) return {}
  const own = native
    ? (spelt(reasoning, FORMAT)['as'] ?? 'reasoning_effort')
    : (dialect.reasoning_as ?? 'reasoning_effort')
  if (own === 'reasoning') {
    const { effort, budget, show } = reasoning
    const exclude = show === undefined ? undefined : !show
    return { reasoning: { ...defined({ effort, max_tokens: budget, exclude }), ...kept(reasoning, FORMAT) } }
  }
  if (own === 'thinking') return writeThinking(reasoning, losses)
  if (reasoning.budget === -1) losses.hide(['reasoning', 'budget'], 'left-to-the-model-anyway')
  else losses.dropFields(reasoning, ['reasoning'], REASONING_LOSSES)
  dropShow(reasoning, losses)
  if (own !== 'none') return defined({ reasoning_effort: reasoning.effort }) as JsonObject
  if (reasoning.effort !== undefined) losses.drop(['reasoning', 'effort'], 'no-reasoning-effort')
  return {}
}

function dropShow(reasoning: Reasoning, losses: Losses): void {
  const path = ['reasoning', 'show']
  if (isImplied(reasoning, 'show')) losses.hide(path, 'the-default')
  else losses.dropFields(reasoning, ['reasoning'], { show: 'no-choice-of-showing' })
}

/** Some upstreams only have a switch. */
function writeThinking(reasoning: Reasoning, losses: Losses): JsonObject {
  losses.dropFields(reasoning, ['reasoning'], {
    effort: 'thinking-is-on-or-off',
    budget: 'thinking-is-on-or-off',
  })
  dropShow(reasoning, losses)
  const off = reasoning.effort === 'none' || reasoning.budget === 0
  return { thinking: { type: off ? 'disabled' : 'enabled' } }
}

const TIERS = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast'])
const STATE_LOSSES: Unwritten<State, 'store'> = {
  previous: 'no-kept-answers',
  conversation: 'no-conversations',
  background: 'no-background-work',
  thread: 'no-threads',
}

function writeSettings(request: CanonicalRequest, { dialect, native, losses }: WriteContext): JsonObject {
  const { state, endUser, cache } = request
  losses.dropFields(state, ['state'], STATE_LOSSES)
  if (cache !== undefined) losses.drop(['cache'], 'no-cache-markers-here')
  const stores = native || dialect.store !== false
  if (!stores && state?.store !== undefined) losses.drop(['state', 'store'], 'no-storage')
  const user = spelt(request, FORMAT)['user'] === 'user' || !native ? 'user' : 'safety_identifier'
  return defined({
    store: stores ? state?.store : undefined,
    [user]: native ? endUser : endUserOf(endUser, losses),
    metadata: request.metadata,
    service_tier: supportedTier(request.serviceTier, TIERS, { native, losses }),
    prompt_cache_key: request.cacheKey,
  }) as JsonObject
}

/**
 * A stream contains usage only on request. For callers of other formats it is always requested, as some compact by it;
 * a channel may always request it, for its log (trap 22).
 */
function writeStreaming(request: CanonicalRequest, { dialect, native }: WriteContext, extras: JsonObject): JsonObject {
  const { stream, stream_options } = spelt(request, FORMAT)
  if (!request.stream) return { ...(stream === false ? { stream } : {}), ...options(stream_options, extras) }
  const forced = (dialect.include_usage ?? !native) ? { include_usage: true } : undefined
  return { stream: true, ...options(forced ?? stream_options, extras) }
}

function options(spelled: Json | undefined, extras: JsonObject): JsonObject {
  if (spelled === undefined) return {}
  return { stream_options: { ...(spelled as JsonObject), ...(extras['stream_options'] as JsonObject | undefined) } }
}
