import type { Unwritten } from '../../canonical/loss.ts'
import { defined, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Modality, Output } from '../../canonical/request.ts'
import type { SettingName } from '../../canonical/settings.ts'
import { reportCompletion } from '../completion.ts'
import { IMAGE_LOSSES, ratioAndClass, reportChoices } from '../media/gemini-image.ts'
import { withEnumInObject } from '../sanitize/enum.ts'
import type { WriteContext } from './context.ts'

const OUTPUT_LOSSES: Unwritten<
  Output,
  SettingName | 'modalities' | 'text' | 'image' | 'audio' | 'ranking' | 'completion' | 'count' | 'compaction'
> = {
  video: 'no-video-settings',
  embedding: 'no-embeddings',
  transcript: 'no-transcripts',
}

/** Modalities that an answer may have. */
const MODALITIES: ReadonlySet<Modality> = new Set(['text', 'image', 'audio'])

/** Writes `response_format`, with an entry for each modality (docs/wire/interactions.md#response-format). */
export function writeFormat(request: CanonicalRequest, context: WriteContext): Json | undefined {
  const { output } = request
  const { losses } = context
  losses.dropFields(output, ['output'], OUTPUT_LOSSES)
  reportCompletion(output, losses)
  const modalities = wantedModalities(output, context)
  const shape = writeShape(output.text, modalities === undefined || modalities.includes('text'), context)
  const image = writeImage(request, modalities?.includes('image') === true, context)
  const audio = writeContainer(output.audio, modalities?.includes('audio') === true, context)
  if (modalities === undefined) return shape === undefined ? undefined : { type: 'text', ...shape }
  const fields: { readonly [M in Modality]?: JsonObject | undefined } = { text: shape, image, audio }
  return modalities.map((modality): Json => ({ type: modality, ...fields[modality] }))
}

/** Returns the modalities to request, or undefined for text alone, which needs no entry. */
function wantedModalities({ modalities }: Output, { losses }: WriteContext): readonly Modality[] | undefined {
  if (modalities === undefined) return undefined
  const path = ['output', 'modalities']
  const requestedModalities = [...new Set(modalities)].filter(modality => MODALITIES.has(modality))
  if (requestedModalities.length === 0) {
    losses.drop(path, modalities.length === 0 ? 'nothing-asked-for' : `no-${modalities[0]}`)
    return undefined
  }
  const remainingModalities = new Set(requestedModalities)
  for (const [index, modality] of modalities.entries())
    if (!remainingModalities.delete(modality))
      losses.drop([...path, index], MODALITIES.has(modality) ? 'asked-for-once' : `no-${modality}`)
  if (requestedModalities.some(modality => modality !== 'text')) return requestedModalities
  losses.dropRestored(path, 'text-anyway')
  return undefined
}

const JSON_TYPE = 'application/json'

/** Writes the shape of the text. Models do not require a schema name. */
function writeShape(requestedShape: Output['text'], isText: boolean, { losses }: WriteContext): JsonObject | undefined {
  if (requestedShape === undefined) return undefined
  const path = ['output', 'text']
  if (!isText) return losses.drop(path, 'no-text-asked-for')
  const text = withEnumInObject(requestedShape, losses)
  if (text.shape === 'text') return { mime_type: 'text/plain' }
  if (text.shape === 'json') return { mime_type: JSON_TYPE }
  losses.dropFields(text, path, {
    name: 'no-name-here',
    description: 'no-description-here',
    strict: 'always-strict',
  })
  return { mime_type: JSON_TYPE, schema: text.schema }
}

/** The only media type of images that can be requested. */
const IMAGE_TYPE = 'image/jpeg'

/** Writes the image settings: aspect ratio, size class and media type. */
function writeImage(
  { output: { image }, model }: CanonicalRequest,
  isImage: boolean,
  { losses }: WriteContext,
): JsonObject | undefined {
  if (image === undefined) return undefined
  const path = ['output', 'image']
  if (!isImage) return losses.drop(path, 'no-image-asked-for')
  losses.dropFields(image, path, IMAGE_LOSSES)
  reportChoices(image, losses)
  const { size, mediaType } = image
  if (mediaType !== undefined && mediaType !== IMAGE_TYPE)
    losses.drop([...path, 'mediaType'], 'no-choice-of-media-type')
  const { ratio, sizeClass } = (size === undefined ? undefined : ratioAndClass(size, model, losses)) ?? {}
  const mime_type = mediaType === IMAGE_TYPE ? mediaType : undefined
  return defined({ aspect_ratio: ratio, image_size: sizeClass, mime_type }) as JsonObject
}

/** Names of audio containers by media type. */
const CONTAINERS: { readonly [mediaType: string]: string } = {
  'audio/pcm': 'audio/l16',
  'audio/wav': 'audio/wav',
  'audio/mpeg': 'audio/mp3',
  'audio/opus': 'audio/ogg_opus',
}

/** Writes the audio container. The voice is part of `generation_config`. */
function writeContainer(audio: Output['audio'], isAudio: boolean, { losses }: WriteContext): JsonObject | undefined {
  if (audio === undefined) return undefined
  losses.dropFields(audio, ['output', 'audio'], { speed: 'no-speed' })
  const { mediaType } = audio
  if (mediaType === undefined) return undefined
  if (isAudio && Object.hasOwn(CONTAINERS, mediaType)) return { mime_type: CONTAINERS[mediaType]! }
  return losses.drop(['output', 'audio', 'mediaType'], isAudio ? 'no-such-container' : 'no-audio-asked-for')
}
