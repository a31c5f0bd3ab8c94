import { foreign, Losses, type Unwritten, type Written } from '../../canonical/loss.ts'
import type { JsonObject, Node } from '../../canonical/node.ts'
import type { CanonicalRequest, Output, Sampling } from '../../canonical/request.ts'
import type { WireRequest } from '../../canonical/wire.ts'
import { defined, kept, spelt } from '../fields.ts'
import { fewStops } from '../sanitize/stops.ts'
import type { WriteOptions } from '../writer.ts'
import { type CompletionsDialect, completionsDialect } from './dialect.ts'
import { FORMAT, writePrompt } from './prompt.ts'

/** The canonical request as `POST /completions` (FORMATS §3): every message is a prompt. */
export function writeRequest(request: CanonicalRequest, options: WriteOptions): Written<WireRequest> {
  const losses = new Losses()
  losses.report(foreign(request, FORMAT))
  losses.dropFields(request, [], LOSSES)
  const extras = kept(request, FORMAT)
  const body = {
    model: request.model,
    prompt: writePrompt(request, losses),
    ...writeSampling(request, options.native, losses),
    ...writeOutput(request.output, losses),
    ...defined({ user: request.endUser }),
    ...extras,
    ...writeStreaming(request, completionsDialect(options.dialect), extras),
  } as JsonObject
  return { wire: { path: '/completions', query: {}, headers: {}, body }, losses: losses.list }
}

const LOSSES: Unwritten<CanonicalRequest, 'model' | 'messages' | 'output' | 'sampling' | 'endUser' | 'stream'> = {
  tools: 'no-tools',
  toolChoice: 'no-tools',
  parallelToolCalls: 'no-tools',
  reasoning: 'no-reasoning',
  state: 'no-storage',
  metadata: 'no-metadata',
  serviceTier: 'no-tiers',
  cache: 'no-cache-markers',
  cacheKey: 'no-cache-keys',
}
const SAMPLING_LOSSES: Unwritten<
  Sampling,
  'maxTokens' | 'temperature' | 'topP' | 'seed' | 'stop' | 'frequencyPenalty' | 'presencePenalty' | 'logprobs'
> = { topK: 'no-top-k' }

function writeSampling({ sampling, ...request }: CanonicalRequest, native: boolean, losses: Losses): JsonObject {
  losses.dropFields(sampling, ['sampling'], SAMPLING_LOSSES)
  const stop = native ? sampling.stop : fewStops(sampling.stop, 4, losses)
  return defined({
    max_tokens: sampling.maxTokens,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    frequency_penalty: sampling.frequencyPenalty,
    presence_penalty: sampling.presencePenalty,
    seed: sampling.seed,
    stop: spelt(request as Node, FORMAT)['stop'] === 'string' && stop?.length === 1 ? stop[0] : stop,
    logprobs: sampling.logprobs,
  }) as JsonObject
}

const OUTPUT_LOSSES: Unwritten<
  Output,
  'candidates' | 'embedding' | 'ranking' | 'transcript' | 'completion' | 'count' | 'compaction'
> = {
  modalities: 'text-only',
  text: 'no-shapes-of-text',
  verbosity: 'no-verbosity',
  image: 'text-only',
  audio: 'text-only',
  video: 'text-only',
}

function writeOutput(output: Output, losses: Losses): JsonObject {
  losses.dropFields(output, ['output'], OUTPUT_LOSSES)
  const { candidates, completion } = output
  return defined({ n: candidates, suffix: completion?.suffix, echo: completion?.echo }) as JsonObject
}

/** A stream contains usage only on request; a channel may always request it, for its log (trap 22). */
function writeStreaming(request: CanonicalRequest, dialect: CompletionsDialect, extras: JsonObject): JsonObject {
  const { stream, stream_options } = spelt(request, FORMAT)
  const streamFields = request.stream ? { stream: true } : stream === false ? { stream } : {}
  const forced = request.stream && dialect.include_usage === true ? { include_usage: true } : stream_options
  if (forced === undefined) return streamFields
  return {
    ...streamFields,
    stream_options: { ...(forced as JsonObject), ...(extras['stream_options'] as JsonObject | undefined) },
  }
}
