import type { ImageProperties } from '../../canonical/content.ts'
import type { Losses } from '../../canonical/loss.ts'
import { nearestRatio, nearestSize, pixelsOf } from '../../canonical/media/video-size.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { defined } from '../fields.ts'

/**
 * Writes the properties of a generated image, which two formats report in the same way
 * (docs/wire/responses.md#input-items, docs/wire/images.md).
 */
export const writeImageProperties = ({ prompt, ...properties }: ImageProperties = {}): JsonObject =>
  defined({ revised_prompt: prompt, ...properties }) as JsonObject

/** Qualities of DALL·E, and their equivalents at the models that followed it. */
export const OLDER_QUALITIES: { readonly [quality: string]: string } = { standard: 'medium', hd: 'high' }

/** Converts a quality by a table of qualities that the upstream refuses. Other values are unchanged. */
export function nearestQuality(
  quality: string | undefined,
  equivalents: { readonly [quality: string]: string },
  losses: Losses,
): string | undefined {
  if (quality === undefined || !Object.hasOwn(equivalents, quality)) return quality
  losses.change(['output', 'image', 'quality'], equivalents[quality], 'nearest-quality')
  return equivalents[quality]
}

/** Sizes of OpenAI's image models after DALL·E, in pixels. */
const SIZES = ['1024x1024', '1536x1024', '1024x1536']

/** Sizes that a model supports, and whether it takes others. */
interface SizeRow {
  readonly models: RegExp
  readonly sizes: readonly string[]
  /** Sizes in place of size classes, for models that refuse these. */
  readonly classes?: { readonly [size: string]: string }
  /** Returns the size that the model takes in place of a size in pixels, or undefined for one of `sizes`. */
  readonly takes: (width: number, height: number) => string | undefined
}

const asWritten = (width: number, height: number): string => `${width}x${height}`

/** Returns a size with edges that 16 divides, if it is within the limits (docs/wire/images.md#generations). */
function flexibleSize(width: number, height: number): string | undefined {
  const [w, h] = [16 * Math.round(width / 16), 16 * Math.round(height / 16)]
  const [long, short, area] = [Math.max(w, h), Math.min(w, h), w * h]
  const isTaken = long <= 3840 && long <= 3 * short && area >= 655_360 && area <= 8_294_400
  return isTaken ? asWritten(w, h) : undefined
}

/** Sizes of OpenAI's models for Gemini's size classes, which OpenAI refuses: squares within the limits. */
const GPT_CLASSES: { readonly [size: string]: string } = {
  ...{ '512': '1024x1024', '1K': '1024x1024', '2K': '2048x2048', '4K': '2880x2880' },
}

/** Sizes of Seedream in its resolution 2K, in pixels. */
const SEEDREAM_SIZES = [
  ...['2048x2048', '2304x1728', '1728x2304', '2560x1440', '1440x2560', '2496x1664', '1664x2496', '3024x1296'],
]

/** Returns a function that enlarges a size until it has the model's minimum area in pixels. */
const enlargedTo =
  (minimum: number) =>
  (width: number, height: number): string => {
    const factor = Math.max(1, Math.sqrt(minimum / (width * height)))
    return factor === 1 ? asWritten(width, height) : asWritten(raised(width * factor), raised(height * factor))
  }

/** Raises a length to a multiple of 16, after rounding off the errors of floating-point numbers. */
const raised = (length: number): number => 16 * Math.ceil(Math.round(length * 1000) / 16_000)

/** Matches Seedream from version 4 on, whose minimum sizes OpenAI's usual sizes do not reach. */
const SEEDREAM = /\bseedream-[45]/i

/**
 * Sizes that Seedream refuses, and those that it takes instead: neither `auto`, in place of which its own default
 * applies, nor classes below 2K (docs/wire/images.md#beyond-the-description).
 */
const SEEDREAM_CLASSES: { readonly [size: string]: string } = { '1K': '2K', '512': '2K' }

/** The first row applies that matches the model. */
const SIZE_ROWS: readonly SizeRow[] = [
  { models: /\bdall-e-3\b/i, sizes: ['1024x1024', '1792x1024', '1024x1792'], takes: asWritten },
  { models: /\bdall-e-2\b/i, sizes: ['1024x1024'], takes: asWritten },
  { models: /\bgpt-image-1(?!\d)/i, sizes: SIZES, classes: GPT_CLASSES, takes: () => undefined },
  { models: /\bgpt-image-\d/i, sizes: SIZES, classes: GPT_CLASSES, takes: flexibleSize },
  {
    ...{ models: /\bseedream-(?:4[-.]5|5)/i, sizes: SEEDREAM_SIZES, classes: SEEDREAM_CLASSES },
    takes: enlargedTo(3_686_400),
  },
  { models: SEEDREAM, sizes: SEEDREAM_SIZES, classes: SEEDREAM_CLASSES, takes: enlargedTo(921_600) },
  { models: /(?:)/, sizes: SIZES, takes: asWritten },
]

/** Returns true if the model refuses sizes that clients of OpenAI usually send. */
export const needsOtherSize = (model: string): boolean => SEEDREAM.test(model)

/**
 * Converts a size to one in pixels that the model takes: a ratio (`16:9`, optionally followed by `2K`) to the nearest
 * one, and a size that the model refuses to the nearest one as well. Other values are unchanged.
 */
export function sizeInPixels(size: string | undefined, model: string, losses: Losses): string | undefined {
  if (size === undefined) return undefined
  if (SEEDREAM.test(model) && size === 'auto')
    return losses.dropRestored(['output', 'image', 'size'], 'left-to-the-model-anyway')
  const { sizes, takes, classes = {} } = SIZE_ROWS.find(({ models }) => models.test(model))!
  const ofClass = Object.hasOwn(classes, size) ? classes[size] : undefined
  const wanted = ofClass ?? size
  const pixels = pixelsOf(wanted)
  const written =
    pixels === undefined
      ? (nearestSize(size.split(' ', 1)[0]!, sizes) ?? ofClass)
      : sizes.includes(wanted)
        ? wanted
        : (takes(...pixels) ?? nearestRatio(wanted, sizes))
  const became = pixels !== undefined && pixelsOf(written)?.join() === pixels.join() ? wanted : written
  if (became === undefined || became === size) return size
  losses.change(['output', 'image', 'size'], became, 'nearest-size')
  return became
}
