import type { ImageProperties } from '../../canonical/content.ts'
import type { Losses } from '../../canonical/loss.ts'
import { nearestSize } from '../../canonical/media/video-size.ts'
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

/** Sizes that all of OpenAI's image models support, in pixels. */
const SIZES = ['1024x1024', '1536x1024', '1024x1536']

/** Converts a ratio (`16:9`, optionally followed by `2K`) to the nearest size in pixels. Other values are unchanged. */
export function sizeInPixels(size: string | undefined, losses: Losses): string | undefined {
  if (size === undefined) return undefined
  const nearestSizeInPixels = nearestSize(size.split(' ', 1)[0]!, SIZES)
  if (nearestSizeInPixels === undefined) return size
  losses.change(['output', 'image', 'size'], nearestSizeInPixels, 'nearest-size')
  return nearestSizeInPixels
}
