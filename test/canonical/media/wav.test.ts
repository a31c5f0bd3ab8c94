import { describe, expect, it } from 'vitest'
import { isEmptyAudio, samplesOf, wavHeader, withRate } from '../../../src/canonical/media/wav.ts'

describe('raw samples', () => {
  it.each([
    ['audio/L16;codec=pcm;rate=24000', { rate: 24_000, channels: 1 }],
    ['audio/l16; rate=16000; channels=2', { rate: 16_000, channels: 2 }],
    ['audio/pcm', { rate: 24_000, channels: 1 }],
    ['audio/pcm;rate=nonsense', { rate: 24_000, channels: 1 }],
    ['audio/pcm;rate=-1', { rate: 24_000, channels: 1 }],
  ])('%s', (mediaType, samples) => expect(samplesOf(mediaType)).toEqual(samples))

  it.each(['audio/wav', 'audio/mpeg', 'audio/l16x', 'text/plain', ''])('are not %s', mediaType =>
    expect(samplesOf(mediaType)).toBeUndefined(),
  )
})

describe('the media type of raw samples with their rate', () => {
  it.each([
    ['audio/pcm', 'audio/L16;codec=pcm;rate=24000'],
    ['audio/pcm;channels=2', 'audio/L16;codec=pcm;rate=24000;channels=2'],
    ['audio/pcm; rate=16000', 'audio/pcm; rate=16000'],
    ['audio/L16;codec=pcm;rate=24000', 'audio/L16;codec=pcm;rate=24000'],
    ['audio/mpeg', 'audio/mpeg'],
  ])('%s is %s', (mediaType, rated) => expect(withRate(mediaType)).toBe(rated))
})

describe('the header of a WAV file', () => {
  const mono = { rate: 24_000, channels: 1 }

  it('says how the samples are to be played', () => {
    const header = Buffer.from(wavHeader({ rate: 16_000, channels: 2 }, 8))
    expect(header).toHaveLength(44)
    expect(header.toString('latin1', 0, 4) + header.toString('latin1', 8, 16)).toBe('RIFFWAVEfmt ')
    expect([header.readUInt32LE(4), header.readUInt32LE(40)]).toEqual([44, 8])
    expect([header.readUInt16LE(20), header.readUInt16LE(22), header.readUInt32LE(24)]).toEqual([1, 2, 16_000])
    expect([header.readUInt32LE(28), header.readUInt16LE(32), header.readUInt16LE(34)]).toEqual([64_000, 4, 16])
  })

  it('says of samples that are still coming, or too many to count, that they go on', () => {
    for (const size of [undefined, 2 ** 32]) {
      const header = Buffer.from(wavHeader(mono, size))
      expect([header.readUInt32LE(4), header.readUInt32LE(40)]).toEqual([0xffff_ffff, 0xffff_ffff])
    }
  })
})

describe('a WAV file', () => {
  const head = wavHeader({ rate: 24_000, channels: 1 }, 4800)
  const list = Buffer.from('LIST\x05\0\0\0INFO!', 'latin1')
  const samples = Buffer.alloc(4800, 1)

  it('without samples is empty', () => {
    expect([isEmptyAudio(head), isEmptyAudio(head.subarray(0, 36))]).toEqual([true, true])
  })

  it('with a chunk of odd size that is not padded is not empty', () => {
    expect(isEmptyAudio(Buffer.concat([head.subarray(0, 36), list, head.subarray(36), samples]))).toBe(false)
  })
})
