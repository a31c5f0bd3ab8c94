import type { MediaPart, MediaSource, OpaquePart, Part } from '../../canonical/content.ts'
import { sourceOfUrl } from '../../canonical/media/data-url.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { WireFile } from '../../canonical/wire.ts'
import { defined, rest, text, WrongType } from '../fields.ts'

export const FORMAT = 'images'

/** The fields of a body that hold input images, in the order they are read. */
export const FIELDS = ['image', 'image[]', 'images', 'mask'] as const

/** Whether there is an input image; a mask alone is none. */
export const hasImage = (body: JsonObject, files: readonly WireFile[] = []): boolean =>
  files.some(({ field }) => field !== 'mask') ||
  FIELDS.some(field => field !== 'mask' && [body[field] ?? []].flat().length > 0)

/** The images a body refers to, each with the field it stood in as spelling, and whether alone there. */
export const readNamed = (body: JsonObject): readonly Part[] =>
  FIELDS.flatMap(field => {
    const value = body[field]
    if (value == null) return []
    if (!Array.isArray(value)) return [readImage(value, field, { alone: true })]
    if (field === 'mask') throw WrongType.instance
    return value.map(one => readImage(one, field, {}))
  })

/** Image fields that hold an empty list. */
export const emptyFields = (body: JsonObject): readonly string[] | undefined => {
  const fields = FIELDS.filter(field => Array.isArray(body[field]) && body[field].length === 0)
  return fields.length === 0 ? undefined : fields
}

const SOURCES = ['image_url', 'file_id', 'url'] as const

function readImage(wire: Json, field: string, spelt: JsonObject): MediaPart | OpaquePart {
  const marks = { in: field, ...spelt }
  const use = field === 'mask' ? ({ use: 'mask' } as const) : {}
  if (typeof wire === 'string')
    return { type: 'media', kind: 'image', source: sourceOfUrl(wire), ...use, spelling: { [FORMAT]: marks } }
  if (!isObject(wire)) throw WrongType.instance
  const given = SOURCES.filter(name => text(wire[name]) !== undefined)
  const [as] = given
  if (as === undefined) return { type: 'opaque', format: FORMAT, value: wire, spelling: { [FORMAT]: marks } }
  const value = wire[as] as string
  // Vendors that have `url` put a type beside it.
  const typed = as === 'url' && wire['type'] === 'image_url'
  const taken = new Set(typed ? [as, 'type'] : [as])
  const source = as === 'file_id' ? ({ type: 'file-id', format: FORMAT, id: value } as const) : sourceOfUrl(value)
  return {
    type: 'media',
    kind: 'image',
    source,
    ...use,
    ...rest(FORMAT, wire, taken, { ...marks, as, ...(typed ? { typed } : {}) }),
  }
}

const IMAGE_FIELD = /^image(?:\[\d*\])?$/

/** The field of the first image that has no bytes, or no address. */
export function emptyField(images: readonly Part[]): string | undefined {
  const empty = images.find(part => part.type === 'media' && isEmpty(part.source))
  return empty === undefined ? undefined : String(empty.spelling![FORMAT]!['in'])
}

/** As many characters of base64 as surely hold a byte, even where they are wrapped. */
const HEAD = 16

const isEmpty = (source: MediaSource): boolean =>
  source.type === 'bytes'
    ? source.bytes.size === 0
    : source.type === 'url'
      ? source.url === ''
      : source.type === 'base64' && Buffer.from(source.data.slice(0, HEAD), 'base64').length === 0

/** The images of a form; a file in a field of another name is an image as well, with the name in extras. */
export const readFiles = (files: readonly WireFile[]): readonly MediaPart[] =>
  files.map(({ field, name, mediaType, bytes }) => ({
    type: 'media',
    kind: 'image',
    source: { type: 'bytes', mediaType: typeOf(mediaType, name), bytes },
    ...defined({ name }),
    ...(field === 'mask' ? { use: 'mask' } : {}),
    ...(field === 'mask' || IMAGE_FIELD.test(field) ? {} : { extras: { [FORMAT]: { field } } }),
    spelling: { [FORMAT]: { in: field, mediaType } },
  }))

const BY_ENDING: { readonly [ending: string]: string } = {
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', webp: 'image/webp', gif: 'image/gif' },
}

/** Clients send files of unknown types as octets: the file's name decides then. */
function typeOf(mediaType: string, name: string | undefined): string {
  if (mediaType !== 'application/octet-stream') return mediaType
  const ending = name?.split('.').at(-1)?.toLowerCase() ?? ''
  return Object.hasOwn(BY_ENDING, ending) ? BY_ENDING[ending]! : mediaType
}
