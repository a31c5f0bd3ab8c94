import type { MediaPart } from '../../canonical/content.ts'
import type { Losses, Unwritten } from '../../canonical/loss.ts'
import { urlOfSource } from '../../canonical/media/data-url.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import { workOf } from '../../canonical/work.ts'
import { defined, kept } from '../fields.ts'
import { sizeInPixels } from '../media/picture-size.ts'

/* A request for an image alone is written as the drawing tool, with the choice to use it. */

const FORMAT = 'responses'
const TYPE = 'image_generation'

/** Context of writing the tool. */
interface WriteContext {
  readonly native: boolean
  readonly losses: Losses
}

/** Whether the output is nothing but an image. */
export const isDrawing = (request: CanonicalRequest): boolean => workOf(request) === 'image'

export const DRAW: JsonObject = { tool_choice: { type: TYPE } }

const LOSSES: Unwritten<
  CanonicalRequest,
  | 'model'
  | 'messages'
  | 'parallelToolCalls'
  | 'output'
  | 'sampling'
  | 'reasoning'
  | 'state'
  | 'endUser'
  | 'metadata'
  | 'serviceTier'
  | 'cache'
  | 'cacheKey'
  | 'stream'
> = { tools: 'pictures-only', toolChoice: 'pictures-only' }

/** The drawing tool, with the settings of the image. */
export function writeDrawingTool(request: CanonicalRequest, { native, losses }: WriteContext): JsonObject {
  losses.dropFields(request, [], LOSSES)
  const image = request.output.image ?? {}
  reportLooks(image, losses)
  const mask = maskOf(request)
  const tool = {
    type: TYPE,
    ...defined({
      size: native ? image.size : sizeInPixels(image.size, losses),
      quality: native ? image.quality : writeQuality(image.quality, losses),
      background: image.background,
      output_format: writeType(image.mediaType, native, losses),
      output_compression: image.compression,
      input_fidelity: image.fidelity,
      moderation: image.moderation,
      partial_images: image.previews,
      input_image_mask: mask === undefined ? undefined : writeMask(mask),
    }),
    ...kept(image, FORMAT),
  } as JsonObject
  return { tools: [tool] }
}

/** Qualities of other models, and the equivalent here. */
const QUALITIES: { readonly [quality: string]: string } = { standard: 'medium', hd: 'high', xhigh: 'high', max: 'high' }

function writeQuality(quality: string | undefined, losses: Losses): string | undefined {
  if (quality === undefined || !Object.hasOwn(QUALITIES, quality)) return quality
  losses.change(['output', 'image', 'quality'], QUALITIES[quality], 'nearest-quality')
  return QUALITIES[quality]
}

const OUTPUT_FORMATS: ReadonlySet<string> = new Set(['png', 'jpeg', 'webp'])

function writeType(mediaType: string | undefined, native: boolean, losses: Losses): string | undefined {
  const name = mediaType?.replace(/^image\//, '')
  if (name === undefined || native || OUTPUT_FORMATS.has(name)) return name
  if (name === 'jpg') {
    losses.rename(['output', 'image', 'mediaType'], 'image/jpeg', 'another-word-for-it')
    return 'jpeg'
  }
  losses.drop(['output', 'image', 'mediaType'], 'no-such-picture-type')
  return undefined
}

function reportLooks(image: NonNullable<Output['image']>, losses: Losses): void {
  if (image.style !== undefined) losses.drop(['output', 'image', 'style'], 'no-style')
  // Images come as bytes here; the gateway serves them by URL where that is requested.
  if (image.delivery !== undefined) losses.hide(['output', 'image', 'delivery'], 'delivered-by-the-gateway')
}

/**
 * The mask that the tool can take: the last part of a last turn that has a text. Any other mask is lost at its place.
 */
export function maskOf(request: CanonicalRequest): MediaPart | undefined {
  if (!isDrawing(request)) return undefined
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
