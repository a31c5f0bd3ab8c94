import type { Unwritten } from '../../canonical/loss.ts'
import { nearestRatio, pixelsOf } from '../../canonical/media/video-size.ts'
import { defined, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Modality, Output } from '../../canonical/request.ts'
import type { SettingName } from '../../canonical/settings.ts'
import { reportCompletion } from '../completion.ts'
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

/** The modalities that an answer may have. */
const MODALITIES: ReadonlySet<Modality> = new Set(['text', 'image', 'audio'])

/** Writes `response_format` (docs/wire/interactions.md#response-format): an entry for each modality. */
export function writeFormat({ output }: CanonicalRequest, context: WriteContext): Json | undefined {
  const { losses } = context
  losses.dropFields(output, ['output'], OUTPUT_LOSSES)
  reportCompletion(output, losses)
  const modalities = wantedModalities(output, context)
  const shape = writeShape(output.text, modalities === undefined || modalities.includes('text'), context)
  const image = writeImage(output.image, modalities?.includes('image') === true, context)
  const audio = writeContainer(output.audio, modalities?.includes('audio') === true, context)
  if (modalities === undefined) return shape === undefined ? undefined : { type: 'text', ...shape }
  const fields: { readonly [M in Modality]?: JsonObject | undefined } = { text: shape, image, audio }
  return modalities.map((modality): Json => ({ type: modality, ...fields[modality] }))
}

/** Returns the modalities to ask for. Undefined for text alone, which needs no entry. */
function wantedModalities({ modalities }: Output, { losses }: WriteContext): readonly Modality[] | undefined {
  if (modalities === undefined) return undefined
  const wanted = modalities.filter((modality, index) => {
    const isFirst = modalities.indexOf(modality) === index
    if (MODALITIES.has(modality) && isFirst) return true
    return losses.drop(['output', 'modalities', index], isFirst ? `no-${modality}` : 'asked-for-once') ?? false
  })
  if (wanted.some(modality => modality !== 'text')) return wanted
  if (wanted.length > 0) losses.dropRestored(['output', 'modalities'], 'text-anyway')
  else if (modalities.length === 0) losses.drop(['output', 'modalities'], 'nothing-asked-for')
  return undefined
}

const JSON_TYPE = 'application/json'

/** Writes the shape of the text. Models require no name of a schema. */
function writeShape(given: Output['text'], isText: boolean, { losses }: WriteContext): JsonObject | undefined {
  if (given === undefined) return undefined
  const path = ['output', 'text']
  if (!isText) return losses.drop(path, 'no-text-asked-for')
  const text = withEnumInObject(given, losses)
  if (text.shape === 'text') return { mime_type: 'text/plain' }
  if (text.shape === 'json') return { mime_type: JSON_TYPE }
  losses.dropFields(text, path, {
    name: 'no-name-here',
    description: 'no-description-here',
    strict: 'always-strict',
  })
  return { mime_type: JSON_TYPE, schema: text.schema }
}

const IMAGE_LOSSES = {
  style: 'no-style',
  mediaType: 'no-choice-of-media-type',
  compression: 'no-choice-of-compression',
  fidelity: 'no-choice-of-fidelity',
  moderation: 'no-choice-of-moderation',
  previews: 'no-unfinished-pictures',
}

/** The supported aspect ratios. */
const RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9']

/** Writes the settings of an image: an aspect ratio and a size class. */
function writeImage(image: Output['image'], isImage: boolean, { losses }: WriteContext): JsonObject | undefined {
  if (image === undefined) return undefined
  const path = ['output', 'image']
  if (!isImage) return losses.drop(path, 'no-image-asked-for')
  losses.dropFields(image, path, IMAGE_LOSSES)
  // Images come as bytes. The gateway delivers them by URL if the caller requested that.
  if (image.delivery !== undefined) losses.dropRestored([...path, 'delivery'], 'delivered-by-the-gateway')
  for (const field of ['quality', 'background'] as const) reportChoice(image, field, losses)
  return image.size === undefined ? undefined : writeSize(image.size, losses)
}

/** Reports a setting that the format lacks. Dropping `auto` loses nothing, because the model chooses anyway. */
function reportChoice(
  image: NonNullable<Output['image']>,
  field: 'quality' | 'background' | 'size',
  losses: WriteContext['losses'],
): void {
  if (image[field] === 'auto') losses.dropRestored(['output', 'image', field], 'left-to-the-model-anyway')
  else if (image[field] !== undefined) losses.drop(['output', 'image', field], `no-${field}`)
}

/** A size class: thousands of pixels, or 512. */
const CLASS = /^(?:\d+K|512)$/

/** Writes a size. One in pixels becomes the nearest aspect ratio and size class. */
function writeSize(size: string, losses: WriteContext['losses']): JsonObject | undefined {
  if (CLASS.test(size)) return { image_size: size }
  const [, ratioText = '', sizeClass] = /^(\S+)(?: (\d+K|512))?$/.exec(size) ?? []
  const ratio = nearestRatio(ratioText, RATIOS)
  if (ratio === undefined) {
    reportChoice({ size }, 'size', losses)
    return undefined
  }
  const pixels = pixelsOf(ratioText)
  const classed = pixels === undefined ? sizeClass : classOf(Math.max(...pixels))
  const became = classed === undefined ? ratio : `${ratio} ${classed}`
  if (became !== size) losses.change(['output', 'image', 'size'], became, 'a-ratio-only')
  return defined({ aspect_ratio: ratio, image_size: classed }) as JsonObject
}

/** Returns the size class for an image's longer side in pixels. Undefined for the smallest class, the default. */
const classOf = (side: number): string | undefined => (side >= 3600 ? '4K' : side >= 1900 ? '2K' : undefined)

/** Names of audio containers by media type. */
const CONTAINERS: { readonly [mediaType: string]: string } = {
  'audio/pcm': 'audio/l16',
  'audio/wav': 'audio/wav',
  'audio/mpeg': 'audio/mp3',
  'audio/opus': 'audio/ogg_opus',
}

/** Writes the container of audio. The voice is part of `generation_config`. */
function writeContainer(audio: Output['audio'], isAudio: boolean, { losses }: WriteContext): JsonObject | undefined {
  if (audio === undefined) return undefined
  losses.dropFields(audio, ['output', 'audio'], { speed: 'no-speed' })
  const { mediaType } = audio
  if (mediaType === undefined) return undefined
  if (isAudio && Object.hasOwn(CONTAINERS, mediaType)) return { mime_type: CONTAINERS[mediaType]! }
  return losses.drop(['output', 'audio', 'mediaType'], isAudio ? 'no-such-container' : 'no-audio-asked-for')
}
