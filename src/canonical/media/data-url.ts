import { decodeBase64 } from '../base64.ts'
import { BufferedBytes, type Bytes } from '../bytes.ts'
import type { MediaKind, MediaPart, MediaSource, Part } from '../content.ts'
import { flatCopy, flatJoin } from '../text.ts'
import { samplesOf } from './wav.ts'

const DATA_SCHEME = 'data:'
const BASE64_MARK = ';base64,'
/** Number of characters to search at the start of the URL, longer than any media type with `;base64,`. */
const HEAD_LENGTH = 256

/**
 * Converts a base64 `data:` URL to its bytes. Any other URL is kept as a URL, including one whose media type has
 * parameters, except for raw samples, whose rate is a parameter. The spelling of the media type is unchanged.
 */
export function sourceOfUrl(url: string, mediaType?: string): MediaSource {
  const markIndex = url.startsWith(DATA_SCHEME) ? url.slice(0, HEAD_LENGTH).indexOf(BASE64_MARK) : -1
  const type = url.slice(DATA_SCHEME.length, Math.max(markIndex, DATA_SCHEME.length))
  const isSupported = !type.includes(';') || samplesOf(type) !== undefined
  if (type !== '' && isSupported && !type.includes(','))
    return { type: 'base64', mediaType: flatCopy(type), data: flatCopy(url.slice(markIndex + BASE64_MARK.length)) }
  return { type: 'url', url, ...(mediaType === undefined ? {} : { mediaType }) }
}

/** Returns the URL of a source, or a `data:` URL for base64. Returns undefined for other sources. */
export function urlOfSource(source: MediaSource): string | undefined {
  if (source.type === 'url') return source.url
  return source.type === 'base64' ? flatJoin(DATA_SCHEME, source.mediaType, BASE64_MARK, source.data) : undefined
}

/** Returns the bytes of a source, or undefined for a URL, text or a file id. */
export function bytesOfSource(source: MediaSource): Bytes | undefined {
  if (source.type === 'bytes') return source.bytes
  return source.type === 'base64' ? new BufferedBytes(decodeBase64(source.data)) : undefined
}

/** An audio part whose bytes are available. */
export type Recording = MediaPart & { readonly source: MediaSource & { readonly type: 'base64' | 'bytes' } }

export const isRecording = (part: Part): part is Recording =>
  part.type === 'media' && part.kind === 'audio' && (part.source.type === 'base64' || part.source.type === 'bytes')

const KIND_BY_TOP_LEVEL_TYPE: { readonly [top: string]: MediaKind } = { image: 'image', audio: 'audio', video: 'video' }

/** Returns the media kind for a media type: `file` for anything other than images, audio and video. */
export function kindOfMediaType(mediaType: string | undefined): MediaKind {
  const topLevelType = mediaType?.split('/')[0]?.toLowerCase() ?? ''
  return Object.hasOwn(KIND_BY_TOP_LEVEL_TYPE, topLevelType) ? KIND_BY_TOP_LEVEL_TYPE[topLevelType]! : 'file'
}
