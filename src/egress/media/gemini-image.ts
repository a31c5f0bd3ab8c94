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

/** Sizes and ratios that a model takes in addition to those of all models. */
interface ModelRow {
  readonly models: RegExp
  /** Size classes, the smallest first. */
  readonly classes: readonly string[]
  /** True if the model takes the narrow ratios. */
  readonly narrow: boolean
}

/**
 * The first row applies that matches the model. Sources: Google's pages as GoogleCloudPlatform/vertex-ai-creative-studio
 * (pull request 1750, August 2026) and HKUDS/nanobot (pull request 4656, July 2026) checked them.
 */
const MODELS: readonly ModelRow[] = [
  { models: /gemini-2\.\d/, classes: [], narrow: false },
  { models: /flash-lite-image/, classes: ['1K'], narrow: true },
  { models: /gemini-3(?:\.\d+)?-pro/, classes: ['1K', '2K', '4K'], narrow: false },
  { models: /(?:)/, classes: ['512', '1K', '2K', '4K'], narrow: true },
]

/** Aspect ratios that every model supports. */
const RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9']
/** Additional aspect ratios of newer models, which are only used if requested. */
const NEWER_RATIOS = ['1:4', '4:1', '1:8', '8:1']

/** Matches a size class: thousands of pixels, or 512. */
const SIZE_CLASS = /^(?:\d+K|512)$/

/** An aspect ratio and a size class, either of which may be undefined. */
export interface RatioAndClass {
  readonly ratio?: string | undefined
  readonly sizeClass?: string | undefined
}

/**
 * Converts a size to an aspect ratio and a size class. A size in pixels is converted to the nearest of each that the
 * model takes. For any other text, reports a loss and returns undefined.
 */
export function ratioAndClass(size: string, model: string, losses: Losses): RatioAndClass | undefined {
  const { classes, narrow } = MODELS.find(({ models }) => models.test(model))!
  const [, ratioText = '', statedClass] = SIZE_CLASS.test(size) ? ['', '', size] : (RATIO_AND_CLASS.exec(size) ?? [])
  const ratios = narrow && NEWER_RATIOS.includes(ratioText) ? NEWER_RATIOS : RATIOS
  const ratio = nearestRatio(ratioText, ratios)
  const pixels = pixelsOf(ratioText)
  const wantedClass = pixels === undefined ? statedClass : classOf(Math.max(...pixels))
  const sizeClass =
    wantedClass === undefined || classes.includes(wantedClass)
      ? wantedClass
      : classes[wantedClass === '512' ? 0 : classes.length - 1]
  if (ratio === undefined && sizeClass === undefined) {
    reportChoice({ size }, 'size', losses)
    return undefined
  }
  const became = [ratio, sizeClass].filter(one => one !== undefined).join(' ')
  if (became !== size) losses.change(['output', 'image', 'size'], became, 'a-ratio-only')
  return { ratio, sizeClass }
}

const RATIO_AND_CLASS = /^(\S+)(?: (\d+K|512))?$/

/**
 * Returns the size class for an image whose longer side is `side` pixels, or undefined for the smallest class, which is
 * the default.
 */
const classOf = (side: number): string | undefined => (side >= 3600 ? '4K' : side >= 1900 ? '2K' : undefined)
