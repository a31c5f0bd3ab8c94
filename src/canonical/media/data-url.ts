import { type Bytes, HeldBytes } from '../bytes.ts'
import type { MediaKind, MediaPart, MediaSource, Part } from '../content.ts'
import { flatCopy, flatJoin } from '../text.ts'

const DATA = 'data:'
const BASE64 = ';base64,'
/** Longer than any media type with its marker: limits the search for the marker to the head of the URL. */
const HEAD = 256

/** A `data:` URL of base64 bytes as bytes; any other URL stays a URL. The media type is kept as it was written. */
export function sourceOfUrl(url: string, mediaType?: string): MediaSource {
  const mark = url.startsWith(DATA) ? url.slice(0, HEAD).indexOf(BASE64) : -1
  const type = url.slice(DATA.length, Math.max(mark, DATA.length))
  if (type !== '' && !type.includes(';') && !type.includes(','))
    return { type: 'base64', mediaType: flatCopy(type), data: flatCopy(url.slice(mark + BASE64.length)) }
  return { type: 'url', url, ...(mediaType === undefined ? {} : { mediaType }) }
}

/** The URL of a source, bytes as a `data:` URL; undefined for a source that has none. */
export function urlOfSource(source: MediaSource): string | undefined {
  if (source.type === 'url') return source.url
  return source.type === 'base64' ? flatJoin(DATA, source.mediaType, BASE64, source.data) : undefined
}

/** The bytes of a source; undefined for one that has none. */
export function bytesOfSource(source: MediaSource): Bytes | undefined {
  if (source.type === 'bytes') return source.bytes
  return source.type === 'base64' ? new HeldBytes(Buffer.from(source.data, 'base64')) : undefined
}

/** An audio part whose bytes are available. */
export type Recording = MediaPart & { readonly source: MediaSource & { readonly type: 'base64' | 'bytes' } }

export const isRecording = (part: Part): part is Recording =>
  part.type === 'media' && part.kind === 'audio' && (part.source.type === 'base64' || part.source.type === 'bytes')

const KINDS: { readonly [top: string]: MediaKind } = { image: 'image', audio: 'audio', video: 'video' }

/** The kind of media of a media type; anything but image, audio and video is a file. */
export function kindOfMediaType(mediaType: string | undefined): MediaKind {
  const top = mediaType?.split('/')[0]?.toLowerCase() ?? ''
  return Object.hasOwn(KINDS, top) ? KINDS[top]! : 'file'
}
