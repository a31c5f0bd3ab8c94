import type { Unwritten } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { narrowed, openApiOf } from '../../canonical/openapi-schema.ts'
import type { CanonicalRequest, Output, Sampling } from '../../canonical/request.ts'
import type { SettingName } from '../../canonical/settings.ts'
import { SETTINGS } from '../../formats/settings/contents.ts'
import { reportCompletion } from '../completion.ts'
import { JSON_IN_WORDS } from '../sanitize/json-in-words.ts'
import { limitedStops } from '../sanitize/limits.ts'
import { writeSettings } from '../settings.ts'
import { nestedExtras, type WriteContext, withExtrasUnlessEmpty } from './fields.ts'
import { writeImage } from './image.ts'
import { takesJson } from './json.ts'
import { writeVoice } from './speech.ts'
import { writeThinking } from './thinking.ts'
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
    thinkingConfig: withExtrasUnlessEmpty(
      nestedExtras(extras, 'thinkingConfig'),
      writeThinking(request.reasoning, context),
    ),
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
    ...writeShape(request, context),
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

function writeShape(request: CanonicalRequest, context: WriteContext): JsonObject {
  const { text } = request.output
  if (text === undefined) return {}
  if (text.shape === 'text') return { responseMimeType: 'text/plain' }
  if (!takesJson(request, context.dialect)) {
    context.losses.drop(['output', 'text'], text.shape === 'enum' ? 'no-json-here' : JSON_IN_WORDS)
    return {}
  }
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
