import { expect, test } from 'vitest'
import { imageOfBase64, imageTypeOfBase64, sniffBase64, sniffMediaType } from '../../../src/canonical/media/sniff.ts'

/** First bytes of files, in Latin-1, as their formats define them. */
const HEADS: readonly (readonly [mediaType: string, head: string])[] = [
  ['image/png', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR'],
  ['image/jpeg', '\xff\xd8\xff\xe0\0\x10JFIF'],
  ['image/gif', 'GIF89a'],
  ['image/gif', 'GIF87a'],
  ['image/webp', 'RIFF\x24\0\0\0WEBPVP8 '],
  ['image/avif', '\0\0\0\x20ftypavif'],
  ['image/avif', '\0\0\0\x20ftypavis'],
  ['image/heic', '\0\0\0\x20ftypheic'],
  ['image/heic', '\0\0\0\x20ftypheix'],
  ['image/heif', '\0\0\0\x20ftypmif1'],
  ['image/bmp', 'BM\x36\0\0\0'],
  ['image/tiff', 'II*\0\x08\0\0\0'],
  ['image/tiff', 'MM\0*\0\0\0\x08'],
  ['application/pdf', '%PDF-1.7\n'],
  ['audio/wav', 'RIFF\x24\0\0\0WAVEfmt '],
  ['audio/flac', 'fLaC\0\0\0\x22'],
  ['audio/ogg', 'OggS\0\x02'],
  ['audio/mpeg', 'ID3\x04\0\0'],
  ['audio/mpeg', '\xff\xfb\x90\x64'],
  ['audio/mpeg', '\xff\xf3\x84\xc4'],
  ['audio/mpeg', '\xff\xf2\x84\xc4'],
  ['audio/aac', '\xff\xf1\x50\x80'],
  ['audio/mp4', '\0\0\0\x20ftypM4A \0\0'],
  ['video/mp4', '\0\0\0\x20ftypisom'],
  ['video/webm', '\x1a\x45\xdf\xa3\x9f\x42'],
]

const bytesOf = (head: string): Buffer => Buffer.from(`${head}${'\0'.repeat(60)}`, 'latin1')

test.each(HEADS)('%s is told by its first bytes', (mediaType, head) => {
  expect(sniffMediaType(bytesOf(head))).toBe(mediaType)
  const base64 = bytesOf(head).toString('base64')
  expect(sniffBase64(base64)).toBe(mediaType)
  expect(sniffBase64(base64.replace(/(.{4})/g, '$1\r\n'))).toBe(mediaType)
  expect(imageTypeOfBase64(base64)).toBe(mediaType.startsWith('image/') ? mediaType : 'image/png')
})

test('a file that begins in another way has no type, and counts as PNG where it is an image', () => {
  for (const head of ['', 'PNG', ' GIF89a', '\0\0\0\x20free', '{"a":1}', 'RIFF\x24\0\0\0AVI ']) {
    expect(sniffMediaType(bytesOf(head))).toBeUndefined()
    expect(imageTypeOfBase64(bytesOf(head).toString('base64'))).toBe('image/png')
  }
  expect([sniffMediaType(new Uint8Array()), sniffBase64('')]).toEqual([undefined, undefined])
  expect(imageOfBase64('R0lGODlh')).toEqual({ type: 'base64', mediaType: 'image/gif', data: 'R0lGODlh' })
})
