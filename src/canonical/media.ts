import type { MediaKind, MediaSource } from './content.ts'

const DATA_URL = /^data:([^;,]+);base64,(.*)$/s

/** A `data:` URL of base64 bytes as bytes; any other URL stays a URL. The media type is kept as it was written. */
export function sourceOfUrl(url: string, mediaType?: string): MediaSource {
  const match = url.startsWith('data:') ? DATA_URL.exec(url) : null
  if (match !== null) return { type: 'base64', mediaType: match[1]!, data: match[2]! }
  return { type: 'url', url, ...(mediaType === undefined ? {} : { mediaType }) }
}

/** The URL of a source, bytes as a `data:` URL; undefined for a source that has none. */
export function urlOfSource(source: MediaSource): string | undefined {
  if (source.type === 'url') return source.url
  return source.type === 'base64' ? `data:${source.mediaType};base64,${source.data}` : undefined
}

const KINDS: { readonly [top: string]: MediaKind } = { image: 'image', audio: 'audio', video: 'video' }

/** What kind of media a media type names; anything but image, audio and video is a file. */
export const kindOfMediaType = (mediaType: string | undefined): MediaKind =>
  KINDS[mediaType?.split('/')[0]?.toLowerCase() ?? ''] ?? 'file'
