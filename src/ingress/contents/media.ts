import type { MediaKind, MediaPart, MediaSource } from '../../canonical/content.ts'
import { kindOfMediaType } from '../../canonical/media/data-url.ts'
import { isGoogleFile } from '../../canonical/media/google-file.ts'
import { isEmptyAudioBase64 } from '../../canonical/media/wav.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { anyObject, anyText, defined, text } from '../fields.ts'
import { contentsExtras, type Extras, FORMAT, inCamelCase } from './fields.ts'

const INLINE = new Set(['mimeType', 'data', 'displayName'])
const FILE_FIELDS = new Set(['mimeType', 'fileUri', 'displayName'])

type Media = Pick<MediaPart, 'type' | 'kind' | 'source' | 'name'>
type Read = { readonly media: Media; readonly extras: Extras } | undefined

const PART_FIELDS = new Set(['inlineData'])

/** Returns true for audio without samples, which Google refuses. */
export function isSoundless(part: JsonObject): boolean {
  if (part['inlineData'] === undefined && part['inline_data'] === undefined) return false
  const inline = anyObject(inCamelCase(part, PART_FIELDS)['inlineData'])
  if (inline === undefined) return false
  const { mimeType, data } = inCamelCase(inline, INLINE)
  const isSound = kindOfMediaType(anyText(mimeType)) === 'audio'
  return isSound && typeof data === 'string' && isEmptyAudioBase64(data)
}

/**
 * Reads the media in a field of a part, with the extras of the field and of the part. Returns undefined if required
 * fields are missing.
 */
export function readMedia(
  fields: JsonObject,
  field: 'inlineData' | 'fileData',
  knownFields: ReadonlySet<string>,
): MediaPart | undefined {
  const wire = fields[field] as JsonObject
  const read = field === 'inlineData' ? readInline(wire) : readFile(wire)
  return read && { ...read.media, ...contentsExtras(fields, knownFields, { [field]: read.extras }) }
}

/** Reads inline bytes. Returns undefined if the media type or the data is missing. */
function readInline(wire: JsonObject): Read {
  const fields = inCamelCase(wire, INLINE)
  const mediaType = text(fields['mimeType'])
  const data = text(fields['data'])
  const name = text(fields['displayName'])
  if (mediaType === undefined || data === undefined) return undefined
  const plain = /[-_]/.test(data) ? data.replaceAll('-', '+').replaceAll('_', '/') : data
  const source = { type: 'base64', mediaType, data: plain } as const
  return {
    media: { type: 'media', kind: kindOfMediaType(mediaType), source, ...defined({ name }) },
    extras: contentsExtras(fields, INLINE),
  }
}

/** Reads a file given by URI. Returns undefined if there is no URI. */
function readFile(wire: JsonObject): Read {
  const fields = inCamelCase(wire, FILE_FIELDS)
  const uri = text(fields['fileUri'])
  const mediaType = text(fields['mimeType'])
  const name = text(fields['displayName'])
  if (uri === undefined) return undefined
  const source: MediaSource = isGoogleFile(uri)
    ? { type: 'file-id', format: FORMAT, id: uri, ...defined({ mediaType }) }
    : { type: 'url', url: uri, ...defined({ mediaType }) }
  return {
    media: { type: 'media', kind: kindOf(uri, mediaType), source, ...defined({ name }) },
    extras: contentsExtras(fields, FILE_FIELDS),
  }
}

const VIDEO_SITE = /^https?:\/\/((www|m)\.)?(youtube\.com|youtu\.be)\//i

const EXTENSIONS: { readonly [extension: string]: MediaKind } = {
  ...{ png: 'image', jpg: 'image', jpeg: 'image', webp: 'image', gif: 'image', heic: 'image' },
  ...{ mp3: 'audio', wav: 'audio', ogg: 'audio', flac: 'audio', aac: 'audio', m4a: 'audio' },
  ...{ mp4: 'video', mov: 'video', webm: 'video', mpeg: 'video', avi: 'video' },
}

function kindOf(uri: string, mediaType: string | undefined): MediaKind {
  if (mediaType !== undefined) return kindOfMediaType(mediaType)
  if (VIDEO_SITE.test(uri)) return 'video'
  const extension = /\.(\w+)(?:[?#]|$)/.exec(uri)?.[1]?.toLowerCase() ?? ''
  return Object.hasOwn(EXTENSIONS, extension) ? EXTENSIONS[extension]! : 'file'
}
