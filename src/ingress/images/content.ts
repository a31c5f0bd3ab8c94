import type { MediaPart, MediaSource, OpaquePart } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import { grouped } from '../../canonical/maps.ts'
import { sourceOfUrl } from '../../canonical/media/data-url.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { WireFile } from '../../canonical/wire.ts'
import { extrasOf, text, WrongType } from '../fields.ts'
import { readFile } from '../media/file-type.ts'

/** The format's name in extras and spellings. */
export const FORMAT = 'images'

/** Body fields for input images, in reading order. */
export const IMAGE_FIELDS = ['image', 'image[]', 'images', 'mask'] as const

/** Returns true if there is an input image. A mask alone does not count. */
export const hasImage = (body: JsonObject, files: readonly WireFile[] = []): boolean =>
  files.some(({ field }) => field !== 'mask') ||
  IMAGE_FIELDS.some(field => field !== 'mask' && [body[field] ?? []].flat().length > 0)

/** An input image, and its path in the body or its field in the form. */
interface InputImage {
  readonly part: MediaPart | OpaquePart
  readonly at: Path
}

/** Reads the images that a body refers to. */
export const readReferencedImages = (body: JsonObject): readonly InputImage[] =>
  IMAGE_FIELDS.flatMap((field): InputImage[] => {
    const value = body[field]
    if (value == null) return []
    const use = field === 'mask' ? ({ use: 'mask' } as const) : {}
    if (!Array.isArray(value)) return [{ part: readImage(value, use), at: [field] }]
    if (field === 'mask') throw WrongType.instance
    return value.map((one, index) => ({ part: readImage(one, use), at: [field, index] }))
  })

const SOURCES = ['image_url', 'file_id', 'url'] as const

function readImage(wire: Json, use: Pick<MediaPart, 'use'>): MediaPart | OpaquePart {
  if (typeof wire === 'string') return { type: 'media', kind: 'image', source: sourceOfUrl(wire), ...use }
  if (!isObject(wire)) throw WrongType.instance
  const [as] = SOURCES.filter(name => text(wire[name]) !== undefined)
  if (as === undefined) return { type: 'opaque', format: FORMAT, value: wire }
  const value = wire[as] as string
  // Vendors that use `url` also send a type.
  const knownFields = new Set(as === 'url' && wire['type'] === 'image_url' ? [as, 'type'] : [as])
  const source = as === 'file_id' ? ({ type: 'file-id', format: FORMAT, id: value } as const) : sourceOfUrl(value)
  return { type: 'media', kind: 'image', source, ...use, ...extrasOf(FORMAT, wire, knownFields) }
}

const IMAGE_FIELD = /^image(?:\[\d*\])?$/

/** Returns the field of the first image that has neither bytes nor a URL, or undefined if there is none. */
export const emptyField = (images: readonly InputImage[]): string | undefined =>
  images.find(({ part }) => part.type === 'media' && isEmpty(part.source))?.at[0]?.toString()

/** Number of base64 characters that contain at least one byte, even if the lines are wrapped. */
const HEAD = 16

const isEmpty = (source: MediaSource): boolean =>
  source.type === 'bytes'
    ? source.bytes.size === 0
    : source.type === 'url'
      ? source.url === ''
      : source.type === 'base64' && Buffer.from(source.data.slice(0, HEAD), 'base64').length === 0

/**
 * Reads the images of a form. A file in a field with another name also counts as an image. The field's name becomes an
 * extra.
 */
export function readFiles(files: readonly WireFile[]): readonly InputImage[] {
  const fields = grouped(files, ({ field }) => field)
  return files.map((file): InputImage => {
    const { field } = file
    const alike = fields.get(field)!
    const part: MediaPart = {
      ...readFile(file, ['image']),
      ...(field === 'mask' ? { use: 'mask' } : {}),
      ...(field === 'mask' || IMAGE_FIELD.test(field) ? {} : { extras: { [FORMAT]: { field } } }),
    }
    return { part, at: alike.length > 1 ? [field, alike.indexOf(file)] : [field] }
  })
}
