import type { Unwritten } from '../../canonical/loss.ts'
import type { Json, JsonObject, Node } from '../../canonical/node.ts'
import type { CanonicalRequest, Effort, Output, Reasoning, Sampling } from '../../canonical/request.ts'
import { reportCompletion } from '../completion.ts'
import { defined, spelt } from '../fields.ts'
import { narrowed, openApiOf } from '../sanitize/schema.ts'
import { fewStops } from '../sanitize/stops.ts'
import { FORMAT, inner, type WriteContext, withExtrasUnlessEmpty } from './fields.ts'
import { writeImage } from './image.ts'
import { writeVoice } from './speech.ts'
import { reportSchema } from './tools.ts'

/** `generationConfig`, or undefined where there is nothing to set (FORMATS §7, §16.1). */
export function writeGeneration(request: CanonicalRequest, context: WriteContext): JsonObject | undefined {
  const node = inner(request, 'generationConfig')
  const thinking = inner(node, 'thinkingConfig')
  return withExtrasUnlessEmpty(node, {
    ...writeSampling(request.sampling, node, context),
    ...writeOutput(request, node, context),
    thinkingConfig: writeThinking(request, thinking, context),
  })
}

function writeSampling(sampling: Sampling, node: Node, context: WriteContext): JsonObject {
  const { logprobs } = sampling
  return defined({
    maxOutputTokens: sampling.maxTokens,
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: sampling.topK,
    seed: sampling.seed,
    stopSequences: context.native ? sampling.stop : fewStops(sampling.stop, 5, context.losses),
    presencePenalty: sampling.presencePenalty,
    frequencyPenalty: sampling.frequencyPenalty,
    responseLogprobs: logprobs !== undefined ? true : context.native ? spelt(node, FORMAT)['logprobs'] : undefined,
    logprobs: logprobs === 0 ? undefined : logprobs,
  }) as JsonObject
}

const OUTPUT_LOSSES: Unwritten<
  Output,
  'modalities' | 'candidates' | 'text' | 'image' | 'audio' | 'ranking' | 'completion' | 'count' | 'compaction'
> = {
  verbosity: 'no-verbosity',
  video: 'no-video-settings',
  embedding: 'no-embeddings',
  transcript: 'no-transcripts',
}

function writeOutput(request: CanonicalRequest, node: Node, context: WriteContext): JsonObject {
  const { output } = request
  const own = context.native ? spelt(node, FORMAT) : {}
  context.losses.dropFields(output, ['output'], OUTPUT_LOSSES)
  reportCompletion(output, context.losses)
  return defined({
    candidateCount: output.candidates,
    responseModalities: writeModalities(output.modalities, context),
    ...writeShape(output.text, node, context),
    ...(own['audio'] === undefined ? {} : { responseFormat: own['audio'] }),
    speechConfig:
      own['speech'] ?? withExtrasUnlessEmpty(inner(node, 'speechConfig'), writeVoice(request, context) ?? {}),
    imageConfig: own['image'] ?? writeImage(request, context),
  }) as JsonObject
}

function writeModalities(modalities: Output['modalities'], { losses }: WriteContext): readonly string[] | undefined {
  modalities?.forEach((modality, index) => {
    if (modality === 'embedding') losses.drop(['output', 'modalities', index], 'no-embeddings')
  })
  return modalities?.filter(modality => modality !== 'embedding').map(modality => modality.toUpperCase())
}

const JSON_TYPE = 'application/json'

function writeShape(text: Output['text'], node: Node, context: WriteContext): JsonObject {
  if (text === undefined) return {}
  const marks = context.native ? spelt(node, FORMAT) : {}
  if (marks['format'] !== undefined) return { responseFormat: marks['format'] }
  if (marks['schema'] === 'responseFormat')
    return {
      responseFormat: { text: { mimeType: JSON_TYPE, ...(text.shape === 'schema' ? { schema: text.schema } : {}) } },
    }
  if (text.shape === 'text') return { responseMimeType: 'text/plain' }
  if (text.shape === 'json') return { responseMimeType: JSON_TYPE }
  const { schema } = text
  const mime = marks['mime'] === 'absent' ? {} : { responseMimeType: JSON_TYPE }
  if (context.native)
    return { ...mime, [String(marks['schema'] ?? 'responseJsonSchema')]: (marks['openapi'] ?? schema) as Json }
  context.losses.dropFields(text, ['output', 'text'], {
    name: 'no-name-here',
    description: 'no-description-here',
    strict: 'always-strict',
  })
  if (context.dialect.schema !== 'openapi') return { ...mime, responseJsonSchema: schema }
  const narrow = narrowed(schema, context.budget)
  reportSchema(schema, narrow, ['output', 'text', 'schema'], context)
  return { ...mime, responseSchema: openApiOf(narrow) }
}

const LEVELS: { readonly [E in Effort]: string | undefined } = {
  none: undefined,
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}

/** Thinking budgets, for models older than levels. */
const BUDGETS: { readonly [E in Effort]: number } = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24576,
  xhigh: 24576,
  max: 24576,
}

const WITHOUT_LEVELS = /gemini-2\.5/

function writeThinking(
  { reasoning, model }: CanonicalRequest,
  node: Node,
  context: WriteContext,
): JsonObject | undefined {
  const { effort, budget, show } = reasoning ?? {}
  if (context.native) {
    const level = spelt(node, FORMAT)['level'] ?? (effort === undefined ? undefined : LEVELS[effort])
    return withExtrasUnlessEmpty(node, { thinkingLevel: level, thinkingBudget: budget, includeThoughts: show })
  }
  return withExtrasUnlessEmpty(node, {
    ...depth({ effort, budget } as Reasoning, model, context),
    includeThoughts: show,
  })
}

/** A level or a budget, never both; no thinking is a budget of zero. */
function depth({ effort, budget }: Reasoning, model: string, { losses }: WriteContext): JsonObject {
  const path = ['reasoning', 'effort']
  if (effort === undefined) return budget === undefined ? {} : { thinkingBudget: budget }
  if (budget !== undefined) {
    losses.drop(path, 'budget-or-level')
    return { thinkingBudget: budget }
  }
  if (effort === 'none' || WITHOUT_LEVELS.test(model)) {
    losses.drop(path, 'said-as-budget')
    losses.add(['reasoning', 'budget'], BUDGETS[effort], 'said-as-budget')
    return { thinkingBudget: BUDGETS[effort] }
  }
  if (effort === 'xhigh' || effort === 'max') losses.change(path, 'high', 'no-higher-level')
  return { thinkingLevel: LEVELS[effort]! }
}
