import { BufferedBytes } from '../../canonical/bytes.ts'
import type { MediaKind, MediaPart } from '../../canonical/content.ts'
import { kindOfMediaType } from '../../canonical/media/data-url.ts'
import { sniffMediaType } from '../../canonical/media/sniff.ts'
import type { WireFile } from '../../canonical/wire.ts'
import { defined } from '../fields.ts'

/** Media types by the ending of a file's name. */
const BY_ENDING: { readonly [ending: string]: string } = {
  ...{ mp3: 'audio/mpeg', mpga: 'audio/mpeg', mpeg: 'audio/mpeg', m4a: 'audio/mp4', wav: 'audio/wav' },
  ...{ flac: 'audio/flac', ogg: 'audio/ogg', oga: 'audio/ogg', opus: 'audio/ogg', aac: 'audio/aac' },
  ...{ aif: 'audio/aiff', aiff: 'audio/aiff', webm: 'audio/webm', mp4: 'video/mp4', mov: 'video/quicktime' },
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', webp: 'image/webp', gif: 'image/gif' },
}

/** Media types such as `audio/x-wav`, which upstreams do not know. */
const UNREGISTERED = /^audio\/(?:x-|vnd\.)/i

/**
 * Returns the media type of a form's file. Many clients declare every file as bytes or text, or with an unregistered
 * type; then the file's name or first bytes decide.
 *
 * @param kinds kinds of media that a file of this field may be.
 */
export function typeOfFile(
  { name = '', mediaType, bytes }: Pick<WireFile, 'name' | 'mediaType' | 'bytes'>,
  kinds: readonly MediaKind[],
): string {
  const isExpected = (type: string): boolean => kinds.includes(kindOfMediaType(type))
  if (isExpected(mediaType) && !UNREGISTERED.test(mediaType)) return mediaType
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  const named = Object.hasOwn(BY_ENDING, ending) ? BY_ENDING[ending]! : undefined
  if (named !== undefined && isExpected(named)) return named
  const detected = bytes instanceof BufferedBytes ? sniffMediaType(bytes.bytes) : undefined
  return detected !== undefined && isExpected(detected) ? detected : mediaType
}

/** Reads a form's file as a part of one of several kinds, by default the first. */
export function readFile(file: WireFile, kinds: readonly [MediaKind, ...MediaKind[]]): MediaPart {
  const { name, bytes } = file
  const mediaType = typeOfFile(file, kinds)
  const kind = kindOfMediaType(mediaType)
  return {
    type: 'media',
    kind: kinds.includes(kind) ? kind : kinds[0],
    source: { type: 'bytes', mediaType, bytes },
    ...defined({ name }),
  }
}
