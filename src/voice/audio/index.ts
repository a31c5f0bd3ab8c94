import { invalid } from '../../canonical/error.ts'
import type { AudioFormat } from '../../canonical/session.ts'
import type { AudioConverter } from './converter.ts'
import { Resampler } from './resampler.ts'
import { type SampleReader, type SampleWriter, sampleReader, sampleWriter } from './samples.ts'

export type { AudioConverter } from './converter.ts'

/**
 * A converter between two formats of one channel.
 *
 * @throws GatewayError `invalid-request` for a rate that is none of audio.
 */
export const openConverter = async (from: AudioFormat, to: AudioFormat): Promise<AudioConverter> =>
  createConverter(from, to)

/** The same at once. */
export function createConverter(from: AudioFormat, to: AudioFormat): AudioConverter {
  for (const { rate } of [from, to]) if (!isRate(rate)) throw NO_RATE
  return new Converter(from, to)
}

const isRate = (rate: number): boolean => Number.isInteger(rate) && rate >= 8000 && rate <= 96_000

const NO_RATE = invalid('Audio has 8000 to 96000 samples a second.', undefined, 'unsupported_audio_format')

/** Samples that are converted in one go: what is held beside the result stays small. */
const AT_ONCE = 16_384

class Converter implements AudioConverter {
  private readonly reader: SampleReader
  private readonly writer: SampleWriter
  /** Undefined where both have one rate. */
  private readonly resampler: Resampler | undefined

  constructor(from: AudioFormat, to: AudioFormat) {
    this.reader = sampleReader(from)
    this.writer = sampleWriter(to)
    this.resampler = from.rate === to.rate ? undefined : new Resampler(from.rate, to.rate)
  }

  push(bytes: Uint8Array): Uint8Array {
    if (bytes.length <= AT_ONCE) return this.convert(bytes)
    const pieces: Uint8Array[] = []
    for (let at = 0; at < bytes.length; at += AT_ONCE) pieces.push(this.convert(bytes.subarray(at, at + AT_ONCE)))
    return Buffer.concat(pieces)
  }

  flush(): Uint8Array {
    this.reader.reset()
    return this.resampler === undefined ? new Uint8Array(0) : this.writer(this.resampler.flush())
  }

  reset(): void {
    this.reader.reset()
    this.resampler?.reset()
  }

  /** Nothing is held outside of the collector's reach. */
  close(): void {}

  private convert(bytes: Uint8Array): Uint8Array {
    const samples = this.reader.push(bytes)
    return this.writer(this.resampler?.push(samples) ?? samples)
  }
}
