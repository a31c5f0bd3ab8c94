import type { Losses } from '../../canonical/loss.ts'
import { nearestRatio, pixelsOf } from '../../canonical/media/video-size.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { Output } from '../../canonical/request.ts'
import { defined } from '../fields.ts'
import { withFields } from '../native.ts'
import { nearestQuality, OLDER_QUALITIES, sizeInPixels } from './image-settings.ts'

/* Image settings of upstreams that have no field `size` (docs/wire/images.md#beyond-the-description). */

const RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9', '2:3', '3:2', '9:20', '20:9', '1:2', '2:1']

/** Qualities that upstreams with ratios refuse, and their equivalents. */
const QUALITIES: { readonly [quality: string]: string } = { ...OLDER_QUALITIES, xhigh: 'high', max: 'high' }

/** Length of an image's longer side from which the larger resolution is requested, in pixels. */
const LARGE = 1900

/** Fields of OpenAI's format that the settings of any upstream may replace. */
const REPLACED_FIELDS = ['size', 'quality', 'style', 'n']

type ImageSettings = (image: Output['image'], losses: Losses, candidates: number | undefined) => JsonObject

/** Writers of the number of images, the size, the quality and the style, by the value of the flag `size_field`. */
const SETTINGS: { readonly [sizeField: string]: ImageSettings } = {
  aspect_ratio: ratioSettings,
  width: edgeSettings,
  image_size: imageSizeSettings,
}

/** Returns the settings for an upstream that has no `size`, or undefined if it has. */
export const settingsWithoutSize = (
  { image, candidates }: { readonly image?: Output['image']; readonly candidates?: number | undefined },
  sizeField: string | undefined,
  losses: Losses,
): JsonObject | undefined => SETTINGS[sizeField ?? '']?.(image, losses, candidates)

/** Returns the caller's body with such settings. A ratio and edges that the caller wrote stay. */
export function withoutSize(body: JsonObject, settings: JsonObject): JsonObject {
  const fields = Object.entries(settings).filter(([field]) => REPLACED_FIELDS.includes(field) || body[field] == null)
  return withFields(
    body,
    Object.fromEntries(fields),
    REPLACED_FIELDS.filter(field => settings[field] === undefined),
  )
}

/** Writes the size as the length of both edges. */
function edgeSettings(image: Output['image'], losses: Losses, n?: number): JsonObject {
  const [width, height] = edgesOf(image, losses) ?? []
  return defined({ n, width, height, quality: image?.quality, style: image?.style }) as JsonObject
}

/** Writes the size and the number of images under SiliconFlow's names. */
function imageSizeSettings(image: Output['image'], losses: Losses, candidates?: number): JsonObject {
  const size = edgesOf(image, losses)?.join('x')
  const settings = { image_size: size, batch_size: candidates, quality: image?.quality, style: image?.style }
  return defined(settings) as JsonObject
}

/** Returns the length of both edges in pixels. */
function edgesOf(image: Output['image'], losses: Losses): readonly [width: number, height: number] | undefined {
  const edges = pixelsOf(sizeInPixels(image?.size, '', losses))
  const isAuto = image?.size === 'auto'
  if (isAuto) losses.dropRestored(['output', 'image', 'size'], 'left-to-the-model-anyway')
  else if (image?.size !== undefined && edges === undefined) losses.drop(['output', 'image', 'size'], 'no-size')
  return edges
}

/** Writes the size, quality and style of an image as an aspect ratio, a resolution and a quality. */
function ratioSettings(image: Output['image'], losses: Losses, n?: number): JsonObject {
  if (image?.style !== undefined) losses.drop(['output', 'image', 'style'], 'no-style')
  return defined({ n, ...writeSize(image?.size, losses), quality: writeQuality(image?.quality, losses) }) as JsonObject
}

function writeQuality(quality: string | undefined, losses: Losses): string | undefined {
  if (quality !== 'auto') return nearestQuality(quality, QUALITIES, losses)
  losses.dropRestored(['output', 'image', 'quality'], 'left-to-the-model-anyway')
  return undefined
}

/** Writes a size in pixels, a ratio, a size class such as `2K`, or a ratio followed by a class. */
function writeSize(size: string | undefined, losses: Losses): JsonObject {
  if (size === undefined) return {}
  const path = ['output', 'image', 'size']
  const [shape = '', sizeClass] = /^(?:512|\d+K)$/.test(size) ? ['', size] : size.split(' ', 2)
  const ratio = nearestRatio(shape, RATIOS)
  const isLarge = sizeClass === undefined ? Math.max(...(pixelsOf(shape) ?? [0])) >= LARGE : /^[2-9]K$/.test(sizeClass)
  const resolution = isLarge ? '2k' : sizeClass === undefined ? undefined : '1k'
  const written = [ratio, resolution?.toUpperCase()].filter(one => one !== undefined).join(' ')
  if (size === 'auto') losses.dropRestored(path, 'left-to-the-model-anyway')
  else if (written === '') losses.drop(path, 'no-size')
  else if (written !== size) losses.change(path, written, 'a-ratio-only')
  return defined({ aspect_ratio: ratio, resolution }) as JsonObject
}
