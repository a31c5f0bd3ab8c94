import { expect, test } from 'vitest'
import { BufferedBytes } from '../../../src/canonical/bytes.ts'
import { wavHeader } from '../../../src/canonical/media/wav.ts'
import { READERS } from '../../../src/ingress/index.ts'

const WAV = `${Buffer.from(wavHeader({ rate: 8000, channels: 1 }, 2)).toString('latin1')}ab`

/* Media types of recordings, as programs declare them: Python's own table has several unregistered ones. */

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
  const file = { field: 'file', name, mediaType, bytes: new BufferedBytes(Buffer.from(bytes, 'latin1')) }
  const incoming = { path: '/audio/transcriptions', query: {}, headers: {}, body: { model: 'm' }, files: [file] }
  const [message] = READERS['transcriptions']!.request!(incoming).messages
  expect(message!.content[0]).toMatchObject({ source: { mediaType: expected } })
})
