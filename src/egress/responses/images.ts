import type { MediaPart } from '../../canonical/content.ts'
import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import { urlOfSource } from '../../canonical/media/data-url.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import { workOf } from '../../canonical/work.ts'
import { defined, extrasFor } from '../fields.ts'
import { nearestQuality, OLDER_QUALITIES, sizeInPixels, writeImageProperties } from '../media/image-settings.ts'
import { FORMAT } from './content.ts'
import type { Stamp } from './items.ts'

/* Image-only requests, written as a forced call of the image generation tool. The call contains the generated image. */

const TOOL_TYPE = 'image_generation'

/** Returns true if only an image was requested. */
export const isImageRequest = (request: CanonicalRequest): boolean => workOf(request) === 'image'

/** Tool choice that forces the image generation tool. */
export const FORCE_IMAGE_TOOL: JsonObject = { tool_choice: { type: TOOL_TYPE } }

const IMAGE_TOOL_LOSSES = { tools: 'images-only', toolChoice: 'images-only' }

/** Writes the image generation tool with the image settings. */
export function writeImageTool(request: CanonicalRequest, losses: Losses): JsonObject {
  losses.dropFields(request, [], IMAGE_TOOL_LOSSES)
  const image = request.output.image ?? {}
  reportProperties(image, losses)
  const mask = maskOf(request)
  const tool = {
    type: TOOL_TYPE,
    ...defined({
      size: sizeInPixels(image.size, '', losses),
      quality: nearestQuality(image.quality, QUALITIES, losses),
      background: image.background,
      output_format: writeType(image.mediaType, losses),
      output_compression: image.compression,
      input_fidelity: image.fidelity,
      moderation: image.moderation,
      partial_images: image.previews,
      input_image_mask: mask === undefined ? undefined : writeMask(mask),
    }),
    ...extrasFor(image, FORMAT),
  } as JsonObject
  return { tools: [tool] }
}

/** Image qualities of other models, and their equivalents in this format. */
const QUALITIES = { ...OLDER_QUALITIES, xhigh: 'high', max: 'high' }

const OUTPUT_FORMATS: ReadonlySet<string> = new Set(['png', 'jpeg', 'webp'])

function writeType(mediaType: string | undefined, losses: Losses): string | undefined {
  const name = mediaType?.replace(/^image\//, '')
  if (name === undefined || OUTPUT_FORMATS.has(name)) return name
  if (name === 'jpg') {
    losses.changeRestored(['output', 'image', 'mediaType'], 'image/jpeg', 'written-as-a-synonym')
    return 'jpeg'
  }
  return losses.drop(['output', 'image', 'mediaType'], 'no-such-picture-type')
}

function reportProperties(image: NonNullable<Output['image']>, losses: Losses): void {
  if (image.style !== undefined) losses.drop(['output', 'image', 'style'], 'no-style')
  // Images arrive as bytes. If the caller requested URLs, the gateway provides them.
  if (image.delivery !== undefined) losses.dropRestored(['output', 'image', 'delivery'], 'delivered-by-the-gateway')
}

/**
 * Returns the mask that the tool can use: the last part of the last turn, if that turn also has a text part. Other
 * masks are lost.
 */
export function maskOf(request: CanonicalRequest): MediaPart | undefined {
  if (!isImageRequest(request)) return undefined
  const last = request.messages.at(-1)
  const part = last?.role === 'user' ? last.content.at(-1) : undefined
  if (part?.type !== 'media' || part.use !== 'mask' || part.kind !== 'image') return undefined
  const hasText = last!.content.some(one => one.type === 'text' && one.text !== '')
  return hasText && isAddressable(part) ? part : undefined
}

const isAddressable = ({ source }: MediaPart): boolean =>
  source.type === 'file-id' ? source.format === FORMAT : urlOfSource(source) !== undefined

const writeMask = (part: MediaPart): JsonObject => {
  const { source } = part
  return source.type === 'file-id' ? { file_id: source.id } : { image_url: urlOfSource(source)! }
}

/** Writes a generated image as a call of the image generation tool, because the format has no other item for images. */
export function writeImageCall(part: MediaPart, stamp: Stamp): JsonObject {
  const { source, made } = part
  if (source.type !== 'base64') return {}
  return {
    type: 'image_generation_call',
    ...stamp,
    result: source.data,
    output_format: outputFormatOf(source.mediaType),
    ...writeImageProperties(made),
    ...extrasFor(part, FORMAT),
  }
}

const outputFormatOf = (mediaType: string): string => mediaType.replace(/^image\//, '')

const IMAGE_LOSSES: Unwritten<MediaPart, 'type' | 'kind' | 'source' | 'made'> = {
  name: 'no-name-of-images',
  detail: 'no-detail-here',
  transcript: 'no-transcript-here',
  use: 'no-masks-here',
  cache: 'no-cache-markers-here',
}

/** Reports fields of a generated image that this format lacks. */
export function reportImage(part: MediaPart, path: Path, losses: Losses): void {
  losses.dropFields(part, path, IMAGE_LOSSES)
  if (part.source.type !== 'base64') return
  const read = `image/${outputFormatOf(part.source.mediaType)}`
  if (read !== part.source.mediaType) losses.change([...path, 'source', 'mediaType'], read, 'images-only')
}
