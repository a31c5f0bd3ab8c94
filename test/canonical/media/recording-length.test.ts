import { expect, test } from 'vitest'
import { BufferedBytes, type Bytes } from '../../../src/canonical/bytes.ts'
import { recordingLength } from '../../../src/canonical/media/recording-length.ts'
import { wavHeader } from '../../../src/canonical/media/wav.ts'

const part = (mediaType: string, bytes: Bytes, kind: 'audio' | 'video' = 'audio') =>
  ({ type: 'media', kind, source: { type: 'bytes', mediaType, bytes } }) as const
const streamed = (fields: Partial<Bytes>): Bytes => ({ ...fields, async *read() {} })

test.each([
  [{ rate: 8000, channels: 1 }, 30],
  [{ rate: 48_000, channels: 2 }, 0.5],
])('a WAV file with %j says how long it is', (samples, seconds) => {
  const size = samples.rate * samples.channels * 2 * seconds
  const file = new BufferedBytes(Buffer.concat([wavHeader(samples, size), Buffer.alloc(size)]))
  expect(recordingLength(part('application/octet-stream', file))).toBeCloseTo(seconds, 2)
})

test.each([
  ['audio/mpeg', { size: 160_000 }, 'audio', 10],
  ['audio/x-wav', { size: 320_000 }, 'audio', 10],
  ['video/mp4', { size: 2_500_000 }, 'video', 10],
  ['audio/mpeg', { expectedSize: 160_000 }, 'audio', 10],
  ['audio/mpeg', {}, 'audio', undefined],
] as const)('%s of %j has a usual length', (mediaType, fields, kind, seconds) => {
  expect(recordingLength(part(mediaType, streamed(fields), kind))).toBe(seconds)
})

test('a recording at an address has an unknown length', () => {
  const source = { type: 'url', url: 'https://a.example/b.mp3' } as const
  expect(recordingLength({ type: 'media', kind: 'audio', source })).toBeUndefined()
})
