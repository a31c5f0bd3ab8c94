import { decodeBase64 } from '../base64.ts'
import type { MediaSource } from '../content.ts'

/** Magic bytes of each media type, with their offset from the start of the file. */
const SIGNATURES: readonly (readonly [mediaType: string, offset: number, bytes: string])[] = [
  ['image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF8'],
  ['image/webp', 8, 'WEBP'],
  ['image/avif', 4, 'ftypavif'],
  ['image/avif', 4, 'ftypavis'],
  ['image/heic', 4, 'ftypheic'],
  ['image/heic', 4, 'ftypheix'],
  ['image/heif', 4, 'ftypmif1'],
  ['image/bmp', 0, 'BM'],
  ['image/tiff', 0, 'II*\0'],
  ['image/tiff', 0, 'MM\0*'],
  ['application/pdf', 0, '%PDF-'],
  ['audio/wav', 8, 'WAVE'],
  ['audio/flac', 0, 'fLaC'],
  ['audio/ogg', 0, 'OggS'],
  ['audio/mpeg', 0, 'ID3'],
  ['audio/mpeg', 0, '\xff\xfb'],
  ['audio/mpeg', 0, '\xff\xf3'],
  ['audio/mpeg', 0, '\xff\xf2'],
  ['audio/aac', 0, '\xff\xf1'],
  ['audio/mp4', 4, 'ftypM4A'],
  ['video/mp4', 4, 'ftyp'],
  ['video/webm', 0, '\x1a\x45\xdf\xa3'],
]

/** Detects a file's media type from its first bytes. Returns undefined if no type matches. */
export function sniffMediaType(bytes: Uint8Array): string | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, 16))
  return SIGNATURES.find(([, offset, mark]) => head.startsWith(mark, offset))?.[0]
}

/** Number of base64 characters that cover the magic bytes, even with line breaks in the base64. */
const HEAD_CHARACTERS = 64

/** Detects the media type of a base64-encoded file. Returns undefined if no type matches. */
export const sniffBase64 = (data: string): string | undefined =>
  sniffMediaType(decodeBase64(data.slice(0, HEAD_CHARACTERS)))

/**
 * Detects the media type of an image that was received as base64 without one. Defaults to PNG if its first bytes match
 * no image type.
 */
export function imageTypeOfBase64(data: string): string {
  const type = sniffBase64(data)
  return type?.startsWith('image/') === true ? type : 'image/png'
}

/** Returns the source of an image that was received as base64 without a media type. */
export const imageOfBase64 = (data: string): MediaSource => ({
  type: 'base64',
  mediaType: imageTypeOfBase64(data),
  data,
})
