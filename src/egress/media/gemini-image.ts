import type { Losses } from '../../canonical/loss.ts'
import { nearestRatio, pixelsOf } from '../../canonical/media/video-size.ts'
import type { Output } from '../../canonical/request.ts'

/* Image settings written by both Gemini formats (docs/wire/contents.md, docs/wire/interactions.md). */

type Image = NonNullable<Output['image']>

/** Image settings that neither format has, with their loss reasons. */
export const IMAGE_LOSSES = {
  style: 'no-style',
  compression: 'no-choice-of-compression',
  fidelity: 'no-choice-of-fidelity',
  moderation: 'no-choice-of-moderation',
  previews: 'no-unfinished-pictures',
}

/** Reports image settings for which the formats lack some or all values. */
export function reportChoices(image: Image, losses: Losses): void {
  // Images arrive as bytes. If the caller requested URLs, the gateway provides them.
  if (image.delivery !== undefined) losses.dropRestored(['output', 'image', 'delivery'], 'delivered-by-the-gateway')
  for (const field of ['quality', 'background'] as const) reportChoice(image, field, losses)
}

/** Reports a setting that the format lacks. Dropping `auto` loses nothing, because the model chooses in either case. */
function reportChoice(image: Image, field: 'quality' | 'background' | 'size', losses: Losses): void {
  if (image[field] === 'auto') losses.dropRestored(['output', 'image', field], 'left-to-the-model-anyway')
  else if (image[field] !== undefined) losses.drop(['output', 'image', field], `no-${field}`)
}

/** Aspect ratios that every model supports. */
const RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9']
/** Additional aspect ratios of newer models, which are only used if requested. */
const NEWER_RATIOS: ReadonlySet<string> = new Set(['1:4', '4:1', '1:8', '8:1'])

/** Matches a size class: thousands of pixels, or 512. */
const SIZE_CLASS = /^(?:\d+K|512)$/

/** An aspect ratio and a size class, either of which may be undefined. */
export interface RatioAndClass {
  readonly ratio?: string | undefined
  readonly sizeClass?: string | undefined
}

/**
 * Converts a size to an aspect ratio and a size class. A size in pixels is converted to the nearest of each. For any
 * other text, reports a loss and returns undefined.
 *
 * @param hasClasses whether the model has more than one size class.
 */
export function ratioAndClass(size: string, hasClasses: boolean, losses: Losses): RatioAndClass | undefined {
  if (SIZE_CLASS.test(size)) return { sizeClass: size }
  const [, ratioText = '', statedClass] = /^(\S+)(?: (\d+K|512))?$/.exec(size) ?? []
  const ratio = NEWER_RATIOS.has(ratioText) ? ratioText : nearestRatio(ratioText, RATIOS)
  if (ratio === undefined) {
    reportChoice({ size }, 'size', losses)
    return undefined
  }
  const pixels = pixelsOf(ratioText)
  const sizeClass = pixels === undefined ? statedClass : hasClasses ? classOf(Math.max(...pixels)) : undefined
  const became = sizeClass === undefined ? ratio : `${ratio} ${sizeClass}`
  if (became !== size) losses.change(['output', 'image', 'size'], became, 'a-ratio-only')
  return { ratio, sizeClass }
}

/**
 * Returns the size class for an image whose longer side is `side` pixels, or undefined for the smallest class, which is
 * the default.
 */
const classOf = (side: number): string | undefined => (side >= 3600 ? '4K' : side >= 1900 ? '2K' : undefined)
