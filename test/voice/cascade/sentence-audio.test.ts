import { describe, expect, test } from 'vitest'
import { wavHeader } from '../../../src/canonical/media/wav.ts'
import { SentenceAudio } from '../../../src/voice/cascade/sentence-audio.ts'
import { Rig, type Scripts } from './rig.ts'

/** A second of samples that rise and fall. */
const SAMPLES = Int16Array.from({ length: 24_000 }, (_, index) => Math.round(20_000 * Math.sin(index / 10)))
const PCM = Buffer.from(SAMPLES.buffer)

/** Pushes a recording in chunks of these sizes in turn. */
function converted(recording: Uint8Array, sizes: readonly number[] = [1, 7, 100], mediaType = 'audio/pcm'): Buffer {
  const audio = new SentenceAudio(mediaType)
  const chunks: Uint8Array[] = []
  for (let at = 0, turn = 0; at < recording.length; turn++) {
    const size = sizes[turn % sizes.length]!
    chunks.push(audio.push(recording.subarray(at, at + size)))
    at += size
  }
  return Buffer.concat([...chunks, audio.flush()])
}

/** A WAV file whose samples have a format of their own, made by `write`. */
function wav(
  { rate, channels, bits }: { rate: number; channels: number; bits: number },
  count: number,
  write: (view: DataView, at: number, index: number) => void,
): Buffer {
  const header = Buffer.from(wavHeader({ rate, channels }, (count * channels * bits) / 8))
  header.writeUInt16LE(bits, 34)
  const samples = Buffer.alloc((count * channels * bits) / 8)
  const view = new DataView(samples.buffer, samples.byteOffset, samples.length)
  for (let index = 0; index < count * channels; index++) write(view, (index * bits) / 8, index)
  return Buffer.concat([header, samples])
}

const MONO = Buffer.concat([wavHeader({ rate: 24_000, channels: 1 }, PCM.length), PCM])

describe('a recording of a speech model', () => {
  test('of samples is the same', () => {
    expect(converted(PCM)).toEqual(PCM)
    expect(converted(PCM.subarray(0, 6))).toEqual(PCM.subarray(0, 6))
    expect(converted(Buffer.alloc(0))).toHaveLength(0)
  })

  test.each([
    ['', MONO],
    ['of a stream', Buffer.concat([wavHeader({ rate: 24_000, channels: 1 }), PCM])],
    ['with a chunk behind the samples', Buffer.concat([MONO, Buffer.from('LIST\x04\0\0\0INFO')])],
  ])('that is a WAV file %s has its samples only', (_, file) => {
    expect(converted(file)).toEqual(PCM)
    expect(converted(file, [100_000])).toEqual(PCM)
  })

  test('that is a WAV file in stereo with 24 bits is mixed', () => {
    const file = wav({ rate: 24_000, channels: 2, bits: 24 }, SAMPLES.length, (view, at, index) => {
      view.setUint8(at, 0)
      view.setInt16(at + 1, SAMPLES[index >> 1]!, true)
    })
    expect(converted(file)).toEqual(PCM)
  })

  test('that is a WAV file of another rate lasts as long', () => {
    const file = Buffer.concat([wavHeader({ rate: 16_000, channels: 1 }, 32_000), PCM.subarray(0, 32_000)])
    expect(converted(file).length / 48_000).toBeCloseTo(1, 2)
  })

  test.each([
    ['MP3 with a tag', 'ID3\x04\0\0\0\0\0#TSSE'],
    ['MP3', '\xff\xf3\x84\xc4\0\0\0\x03H\0\0\0'],
    ['Ogg', 'OggS\0\x02\0\0\0\0\0\0'],
    ['FLAC', 'fLaC\0\0\0"\x10\0\x10\0'],
  ])('that is a file of %s is refused instead of heard as noise', (_, start) => {
    const file = Buffer.concat([Buffer.from(start, 'latin1'), Buffer.alloc(1000, 7)])
    expect(() => converted(file)).toThrow('neither mono PCM audio nor a WAV file')
  })

  test('of another media type is refused', () => {
    for (const type of ['audio/mpeg', 'audio/L16;rate=24000;channels=2'])
      expect(() => new SentenceAudio(type)).toThrow('neither mono PCM audio nor a WAV file')
  })
})

/** Answers every speech request with this recording, as events that state no type. */
const returning = (recording: Uint8Array): NonNullable<Scripts['speech']> =>
  async function* () {
    const at = { candidate: 0, part: 0 }
    const source = { type: 'base64', mediaType: 'audio/pcm', data: '' } as const
    yield { type: 'result-start' }
    yield { type: 'part-start', at, part: { type: 'media', kind: 'audio', source } }
    yield { type: 'part-delta', at, append: Buffer.from(recording).toString('base64') }
    yield { type: 'part-end', at }
    yield { type: 'candidate-end', candidate: 0, finish: { reason: 'stop' } }
    yield { type: 'result-end' }
  }

test('a session plays the samples of a WAV file, and fails for other files', async () => {
  const spoken = await Rig.open({ speech: returning(MONO) })
  spoken.say('Hi')
  expect((await spoken.until('response-end')).status).toBe('completed')
  expect(Buffer.concat(spoken.all('audio-delta').map(({ audio }) => audio))).toEqual(PCM)
  const failed = await Rig.open({ speech: returning(Buffer.from('ID3 and the rest of a song')) })
  failed.say('Hi')
  expect(await failed.until('response-end')).toMatchObject({ status: 'failed', error: { kind: 'upstream-failed' } })
  expect(failed.all('audio-delta')).toEqual([])
  for (const rig of [spoken, failed]) rig.upstream.close(1000, '')
})
