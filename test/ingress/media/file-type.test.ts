import { describe, expect, test } from 'vitest'
import { BufferedBytes } from '../../../src/canonical/bytes.ts'
import { wavHeader } from '../../../src/canonical/media/wav.ts'
import { READERS } from '../../../src/ingress/index.ts'

const WAV = `${Buffer.from(wavHeader({ rate: 8000, channels: 1 }, 2)).toString('latin1')}ab`
const PNG = '\x89PNG\r\n\x1a\n'

/** Returns the media type with which a format reads a file of its form. */
function typeIn(
  [format, path, field]: readonly [format: string, path: string, field: string],
  [name, mediaType, bytes]: readonly [name: string, mediaType: string, bytes: string],
) {
  const file = { field, name, mediaType, bytes: new BufferedBytes(Buffer.from(bytes, 'latin1')) }
  const body = { model: 'm', ...(format === 'transcriptions' ? {} : { prompt: 'a cat' }) }
  const { messages } = READERS[format]!.request!({ path, query: {}, headers: {}, body, files: [file] })
  const part = messages[0]!.content.find(({ type }) => type === 'media')
  return part?.type === 'media' && part.source.type === 'bytes' ? part.source.mediaType : undefined
}

/* Programs declare every file as bytes, or with the types of Python's own table. */

describe('a recording', () => {
  const FORM = ['transcriptions', '/audio/transcriptions', 'file'] as const
  test.each([
    ['say.wav', 'audio/x-wav', WAV, 'audio/wav'],
    ['say.wav', 'audio/vnd.wave', WAV, 'audio/wav'],
    ['say', 'audio/x-wav', WAV, 'audio/wav'],
    ['say.m4a', 'audio/x-m4a', '1234ftypM4A ', 'audio/mp4'],
    ['say.flac', 'audio/x-flac', 'fLaC', 'audio/flac'],
    ['say.aiff', 'audio/x-aiff', 'FORM', 'audio/aiff'],
    ['say.wma', 'audio/x-ms-wma', '0&²u', 'audio/x-ms-wma'],
    ['say.wav', 'audio/wav', 'anything', 'audio/wav'],
    ['film.mkv', 'video/x-matroska', '\x1a\x45\xdf\xa3', 'video/x-matroska'],
    ['say.mp3', 'application/octet-stream', 'ID3', 'audio/mpeg'],
  ])('%s that is declared as %s', (name, mediaType, bytes, expected) => {
    expect(typeIn(FORM, [name, mediaType, bytes])).toBe(expected)
  })
})

describe.each([
  ['images', '/images/edits', 'image'],
  ['videos', '/videos', 'input_reference'],
] as const)('an image of %s', (...form) => {
  test.each([
    ['cat.png', 'application/octet-stream', 'anything', 'image/png'],
    ['cat', 'application/octet-stream', PNG, 'image/png'],
    ['cat', 'application/octet-stream', '\xff\xd8\xff', 'image/jpeg'],
    ['cat', 'application/octet-stream', 'anything', 'application/octet-stream'],
    ['cat.png', 'image/webp', PNG, 'image/webp'],
    ['cat.mp3', 'application/octet-stream', PNG, 'image/png'],
  ])('%s that is declared as %s', (name, mediaType, bytes, expected) => {
    expect(typeIn(form, [name, mediaType, bytes])).toBe(expected)
  })
})
