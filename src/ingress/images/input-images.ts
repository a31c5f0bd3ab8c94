import type { MediaPart, MediaSource, OpaquePart, Part } from '../../canonical/content.ts'
import { sourceOfUrl } from '../../canonical/media/data-url.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { WireFile } from '../../canonical/wire.ts'
import { defined, rest, text, WrongType } from '../fields.ts'

export const FORMAT = 'images'

/** The fields of a body that name pictures, in the order they are read. */
export const FIELDS = ['image', 'image[]', 'images', 'mask'] as const

/** Whether there is a picture to begin with; a mask alone is none. */
export const hasPicture = (body: JsonObject, files: readonly WireFile[] = []): boolean =>
  files.some(({ field }) => field !== 'mask') ||
  FIELDS.some(field => field !== 'mask' && [body[field] ?? []].flat().length > 0)

/** The pictures a body names: each remembers in which field it stood, and whether alone there. */
export const readNamed = (body: JsonObject): readonly Part[] =>
  FIELDS.flatMap(field => {
    const said = body[field]
    if (said == null) return []
    if (!Array.isArray(said)) return [readPicture(said, field, { alone: true })]
    if (field === 'mask') throw WrongType.instance
    return said.map(one => readPicture(one, field, {}))
  })

/** Fields that name pictures and hold an empty list. */
export const emptyFields = (body: JsonObject): readonly string[] | undefined => {
  const fields = FIELDS.filter(field => Array.isArray(body[field]) && body[field].length === 0)
  return fields.length === 0 ? undefined : fields
}

const WORDS = ['image_url', 'file_id', 'url'] as const

function readPicture(wire: Json, field: string, how: JsonObject): MediaPart | OpaquePart {
  const marks = { in: field, ...how }
  const use = field === 'mask' ? ({ use: 'mask' } as const) : {}
  if (typeof wire === 'string')
    return { type: 'media', kind: 'image', source: sourceOfUrl(wire), ...use, spelling: { [FORMAT]: marks } }
  if (!isObject(wire)) throw WrongType.instance
  const said = WORDS.filter(word => text(wire[word]) !== undefined)
  const [as] = said
  if (as === undefined) return { type: 'opaque', format: FORMAT, value: wire, spelling: { [FORMAT]: marks } }
  const value = wire[as] as string
  // Vendors that say `url` say beside it that it is one.
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

const PICTURE = /^image(?:\[\d*\])?$/

/** The field of the first picture that has no bytes, or no address. */
export function emptyField(pictures: readonly Part[]): string | undefined {
  const empty = pictures.find(part => part.type === 'media' && isEmpty(part.source))
  return empty === undefined ? undefined : String(empty.spelling![FORMAT]!['in'])
}

/** As many characters of base64 as say a byte, whatever is wrapped. */
const HEAD = 16

const isEmpty = (source: MediaSource): boolean =>
  source.type === 'bytes'
    ? source.bytes.size === 0
    : source.type === 'url'
      ? source.url === ''
      : source.type === 'base64' && Buffer.from(source.data.slice(0, HEAD), 'base64').length === 0

/** The pictures of a form; one in a field of another name is a picture all the same, and says which field that was. */
export const readFiles = (files: readonly WireFile[]): readonly MediaPart[] =>
  files.map(({ field, name, mediaType, bytes }) => ({
    type: 'media',
    kind: 'image',
    source: { type: 'bytes', mediaType: typeOf(mediaType, name), bytes },
    ...defined({ name }),
    ...(field === 'mask' ? { use: 'mask' } : {}),
    ...(field === 'mask' || PICTURE.test(field) ? {} : { extras: { [FORMAT]: { field } } }),
    spelling: { [FORMAT]: { in: field, mediaType } },
  }))

const BY_ENDING: { readonly [ending: string]: string } = {
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', webp: 'image/webp', gif: 'image/gif' },
}

/** What a client does not know it calls octets: then the file's name may tell. */
function typeOf(mediaType: string, name: string | undefined): string {
  if (mediaType !== 'application/octet-stream') return mediaType
  const ending = name?.split('.').at(-1)?.toLowerCase() ?? ''
  return Object.hasOwn(BY_ENDING, ending) ? BY_ENDING[ending]! : mediaType
}
