import type { Losses } from '../../canonical/loss.ts'
import { nearestRatio, pixelsOf } from '../../canonical/media/video-size.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest, Output } from '../../canonical/request.ts'
import { defined } from '../fields.ts'
import type { WriteContext } from './fields.ts'

type Image = NonNullable<Output['image']>

/** The supported aspect ratios. */
const RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9']

const LOSSES = {
  style: 'no-style',
  mediaType: 'no-choice-of-media-type',
  compression: 'no-choice-of-compression',
  fidelity: 'no-choice-of-fidelity',
  moderation: 'no-choice-of-moderation',
  previews: 'no-unfinished-pictures',
}

/**
 * Writes `imageConfig`: an aspect ratio and, if known, a size class. A size in pixels is mapped to the nearest ratio
 * and size class.
 */
export function writeImage({ output, model }: CanonicalRequest, { losses }: WriteContext): JsonObject | undefined {
  const { image } = output
  if (image === undefined) return undefined
  losses.dropFields(image, ['output', 'image'], LOSSES)
  // Images arrive as bytes. If the caller requested URLs, the gateway provides them.
  if (image.delivery !== undefined) losses.dropRestored(['output', 'image', 'delivery'], 'delivered-by-the-gateway')
  for (const field of ['quality', 'background'] as const) reportChoice(image, field, losses)
  const { size } = image
  return size === undefined ? undefined : writeSize(size, model, losses)
}

/** Reports a setting that the format lacks. Dropping `auto` loses nothing, because the model then chooses as well. */
function reportChoice(image: Image, field: 'quality' | 'background' | 'size', losses: Losses): void {
  if (image[field] === 'auto') losses.dropRestored(['output', 'image', field], 'left-to-the-model-anyway')
  else if (image[field] !== undefined) losses.drop(['output', 'image', field], `no-${field}`)
}

/** A size class: thousands of pixels, or 512. */
const CLASS = /^(?:\d+K|512)$/

/** Older models that only have one size class. */
const ONE_CLASS = /gemini-2\.5/

function writeSize(size: string, model: string, losses: Losses): JsonObject | undefined {
  if (CLASS.test(size)) return { imageSize: size }
  const [, ratioText = '', sizeClass] = /^(\S+)(?: (\d+K|512))?$/.exec(size) ?? []
  const ratio = nearestRatio(ratioText, RATIOS)
  if (ratio === undefined) {
    reportChoice({ size }, 'size', losses)
    return undefined
  }
  const pixels = pixelsOf(ratioText)
  const classed = pixels === undefined ? sizeClass : ONE_CLASS.test(model) ? undefined : classOf(Math.max(...pixels))
  const became = classed === undefined ? ratio : `${ratio} ${classed}`
  if (became !== size) losses.change(['output', 'image', 'size'], became, 'a-ratio-only')
  return defined({ aspectRatio: ratio, imageSize: classed }) as JsonObject
}

/**
 * Returns the size class for the longer side of an image, in pixels. Undefined for the smallest class, which is the
 * default.
 */
const classOf = (side: number): string | undefined => (side >= 3600 ? '4K' : side >= 1900 ? '2K' : undefined)
