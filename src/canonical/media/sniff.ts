import type { MediaSource } from '../content.ts'

/** How files of a media type begin: at an offset, these bytes. */
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

/** The media type by a file's first bytes, or undefined where they match none. */
export function sniffed(bytes: Uint8Array): string | undefined {
  const head = String.fromCharCode(...bytes.subarray(0, 16))
  return SIGNATURES.find(([, offset, mark]) => head.startsWith(mark, offset))?.[0]
}

/** Characters of base64 that hold the first bytes, even where they are wrapped. */
const HEAD = 64

/** The same of a file's base64. */
export const sniffedBase64 = (data: string): string | undefined => sniffed(Buffer.from(data.slice(0, HEAD), 'base64'))

/** The media type of a picture whose base64 stands alone: that of its first bytes, else PNG. */
export function typeOfBase64(data: string): string {
  const type = sniffedBase64(data)
  return type?.startsWith('image/') === true ? type : 'image/png'
}

/** A picture whose base64 stands alone, without a media type. */
export const pictureOfBase64 = (data: string): MediaSource => ({ type: 'base64', mediaType: typeOfBase64(data), data })
