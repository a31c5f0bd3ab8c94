import { invalid } from '../../canonical/error.ts'
import type { AudioFormat } from '../../canonical/voice-session.ts'
import type { AudioConverter } from './converter.ts'
import { Resampler } from './resampler.ts'
import { type SampleReader, type SampleWriter, sampleReader, sampleWriter } from './samples.ts'

export type { AudioConverter } from './converter.ts'

/**
 * Opens a converter between two mono audio formats.
 *
 * @throws GatewayError `invalid-request` if a sample rate is out of range.
 */
export const openConverter = async (from: AudioFormat, to: AudioFormat): Promise<AudioConverter> =>
  createConverter(from, to)

/** Synchronous variant of `openConverter`. */
export function createConverter(from: AudioFormat, to: AudioFormat): AudioConverter {
  for (const { rate } of [from, to]) if (!isRate(rate)) throw NO_RATE
  return new Converter(from, to)
}

const isRate = (rate: number): boolean => Number.isInteger(rate) && rate >= 8000 && rate <= 96_000

const NO_RATE = invalid(
  'The sample rate of audio must be between 8000 and 96000 Hz.',
  undefined,
  'unsupported_audio_format',
)

/** Number of bytes converted per pass. Limits the size of the intermediate sample arrays. */
const CHUNK_BYTES = 16_384

class Converter implements AudioConverter {
  private readonly from: AudioFormat
  private readonly to: AudioFormat
  private readonly reader: SampleReader
  private readonly writer: SampleWriter
  /** Resampler, or undefined if both formats have the same rate. */
  private readonly resampler: Resampler | undefined

  constructor(from: AudioFormat, to: AudioFormat) {
    this.from = from
    this.to = to
    this.reader = sampleReader(from)
    this.writer = sampleWriter(to)
    this.resampler = from.rate === to.rate ? undefined : new Resampler(from.rate, to.rate)
  }

  push(bytes: Uint8Array): Uint8Array {
    if (bytes.length <= CHUNK_BYTES) return this.convert(bytes)
    const pieces: Uint8Array[] = []
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
      pieces.push(this.convert(bytes.subarray(at, at + CHUNK_BYTES)))
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

  fork(): AudioConverter {
    return new Converter(this.from, this.to)
  }

  /** Releases nothing, because all buffers are garbage-collected. */
  close(): void {}

  private convert(bytes: Uint8Array): Uint8Array {
    const samples = this.reader.push(bytes)
    return this.writer(this.resampler?.push(samples) ?? samples)
  }
}
