import type { Unwritten } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { narrowed, openApiOf } from '../../canonical/openapi-schema.ts'
import type { CanonicalRequest, Effort, Output, Reasoning, Sampling } from '../../canonical/request.ts'
import type { SettingName } from '../../canonical/settings.ts'
import { SETTINGS } from '../../formats/settings/contents.ts'
import { reportCompletion } from '../completion.ts'
import { limitedStops } from '../sanitize/limits.ts'
import { writeSettings } from '../settings.ts'
import { nestedExtras, type WriteContext, withExtrasUnlessEmpty } from './fields.ts'
import { writeImage } from './image.ts'
import { writeVoice } from './speech.ts'
import { reportSchema } from './tools.ts'

/**
 * Writes `generationConfig`. Returns undefined if there is nothing to set (docs/wire/contents.md#generation-config).
 */
export function writeGeneration(
  request: CanonicalRequest,
  extras: JsonObject | undefined,
  context: WriteContext,
): JsonObject | undefined {
  return withExtrasUnlessEmpty(extras, {
    ...writeSettings(SETTINGS, request, context.losses),
    ...writeSampling(request.sampling, context),
    ...writeOutput(request, extras, context),
    thinkingConfig: withExtrasUnlessEmpty(nestedExtras(extras, 'thinkingConfig'), writeThinking(request, context)),
  })
}

const writeSampling = ({ stop, logprobs }: Sampling, { losses }: WriteContext) => ({
  stopSequences: limitedStops(stop, 5, losses),
  responseLogprobs: logprobs === undefined ? undefined : true,
  logprobs: logprobs === 0 ? undefined : logprobs,
})

const OUTPUT_LOSSES: Unwritten<
  Output,
  SettingName | 'modalities' | 'text' | 'image' | 'audio' | 'ranking' | 'completion' | 'count' | 'compaction'
> = {
  video: 'no-video-settings',
  embedding: 'no-embeddings',
  transcript: 'no-transcripts',
}

function writeOutput(request: CanonicalRequest, extras: JsonObject | undefined, context: WriteContext) {
  const { output } = request
  context.losses.dropFields(output, ['output'], OUTPUT_LOSSES)
  reportCompletion(output, context.losses)
  return {
    responseModalities: writeModalities(output.modalities, context),
    ...writeShape(output.text, context),
    speechConfig: withExtrasUnlessEmpty(nestedExtras(extras, 'speechConfig'), writeVoice(request, context) ?? {}),
    imageConfig: writeImage(request, context),
  }
}

function writeModalities(modalities: Output['modalities'], { losses }: WriteContext): readonly string[] | undefined {
  modalities?.forEach((modality, index) => {
    if (modality === 'embedding') losses.drop(['output', 'modalities', index], 'no-embeddings')
  })
  return modalities?.filter(modality => modality !== 'embedding').map(modality => modality.toUpperCase())
}

const JSON_TYPE = 'application/json'
const ENUM_TYPE = 'text/x.enum'

function writeShape(text: Output['text'], context: WriteContext): JsonObject {
  if (text === undefined) return {}
  if (text.shape === 'text') return { responseMimeType: 'text/plain' }
  if (text.shape === 'json') return { responseMimeType: JSON_TYPE }
  const { schema } = text
  if (text.shape === 'enum') return { responseMimeType: ENUM_TYPE, responseSchema: writeSchema(schema, context) }
  context.losses.dropFields(text, ['output', 'text'], {
    name: 'no-name-here',
    description: 'no-description-here',
    strict: 'always-strict',
  })
  const jsonType = { responseMimeType: JSON_TYPE }
  if (context.dialect.schema !== 'openapi') return { ...jsonType, responseJsonSchema: schema }
  return { ...jsonType, responseSchema: writeSchema(schema, context) }
}

function writeSchema(schema: JsonObject, context: WriteContext): JsonObject {
  const narrowedSchema = narrowed(schema, context.budget)
  reportSchema(schema, narrowedSchema, ['output', 'text', 'schema'], context)
  return openApiOf(narrowedSchema)
}

/** Thinking levels by effort. */
const LEVEL_BY_EFFORT: { readonly [E in Effort]: string | undefined } = {
  none: undefined,
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}

/** Thinking budget by effort, in tokens, for models that predate thinking levels. */
const BUDGET_BY_EFFORT: { readonly [E in Effort]: number } = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24576,
  xhigh: 24576,
  max: 24576,
}

/** Models that support thinking budgets but not levels. */
const MODELS_WITHOUT_LEVELS = /gemini-2\.5/

const writeThinking = ({ reasoning = {}, model }: CanonicalRequest, context: WriteContext) => ({
  ...writeDepth(reasoning, model, context),
  includeThoughts: reasoning.show,
})

/** Writes either a thinking level or a budget. A budget of 0 turns thinking off. */
function writeDepth({ effort, budget }: Reasoning, model: string, { losses }: WriteContext): JsonObject {
  const path = ['reasoning', 'effort']
  if (effort === undefined) return budget === undefined ? {} : { thinkingBudget: budget }
  if (budget !== undefined) {
    losses.drop(path, 'budget-or-level')
    return { thinkingBudget: budget }
  }
  if (effort === 'none' || MODELS_WITHOUT_LEVELS.test(model)) {
    losses.drop(path, 'said-as-budget')
    losses.add(['reasoning', 'budget'], BUDGET_BY_EFFORT[effort], 'said-as-budget')
    return { thinkingBudget: BUDGET_BY_EFFORT[effort] }
  }
  if (effort === 'xhigh' || effort === 'max') losses.change(path, 'high', 'no-higher-level')
  return { thinkingLevel: LEVEL_BY_EFFORT[effort]! }
}
