import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { defined } from '../fields.ts'
import { IMAGE_LOSSES, ratioAndClass, reportChoices } from '../media/gemini-image.ts'
import type { WriteContext } from './fields.ts'

/**
 * Writes `imageConfig`: an aspect ratio and, if known, a size class. A size in pixels is mapped to the nearest ratio
 * and size class.
 */
export function writeImage({ output, model }: CanonicalRequest, { losses }: WriteContext): JsonObject | undefined {
  const { image } = output
  if (image === undefined) return undefined
  losses.dropFields(image, ['output', 'image'], { ...IMAGE_LOSSES, mediaType: 'no-choice-of-media-type' })
  reportChoices(image, losses)
  if (image.size === undefined) return undefined
  const size = ratioAndClass(image.size, model, losses)
  return size && (defined({ aspectRatio: size.ratio, imageSize: size.sizeClass }) as JsonObject)
}
