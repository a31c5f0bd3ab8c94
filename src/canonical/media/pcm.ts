import type { Samples, WavHead } from './wav.ts'

/** Encoding, sample rate and channel count of PCM audio. */
export type SampleFormat = Samples & Pick<WavHead, 'bits' | 'encoding'>

type ReadSample = (bytes: DataView, at: number) => number

/**
 * Functions that read one sample as a number between -1 and 1, by encoding. All encodings are little-endian, as in WAV
 * files.
 */
const DECODERS: { readonly [format: string]: ReadSample } = {
  'integer 8': (bytes, at) => (bytes.getUint8(at) - 128) / 2 ** 7,
  'integer 16': (bytes, at) => bytes.getInt16(at, true) / 2 ** 15,
  'integer 24': (bytes, at) => (bytes.getUint8(at) + bytes.getInt16(at + 1, true) * 2 ** 8) / 2 ** 23,
  'integer 32': (bytes, at) => bytes.getInt32(at, true) / 2 ** 31,
  'float 32': (bytes, at) => bytes.getFloat32(at, true),
  'float 64': (bytes, at) => bytes.getFloat64(at, true),
}

const decoderOf = ({ encoding, bits }: SampleFormat): ReadSample | undefined => DECODERS[`${encoding} ${bits}`]

/** Returns true if `SampleReader` supports the encoding, and the rate and channel count are within the usual range. */
export const isReadable = (format: SampleFormat): boolean =>
  decoderOf(format) !== undefined && format.channels <= 2 && format.rate >= 8000 && format.rate <= 192_000

/** Decodes PCM audio from chunks that may end anywhere into samples per channel. */
export class SampleReader {
  private readonly channels: number
  /** Number of bytes per sample of one channel. */
  private readonly sampleWidth: number
  private readonly read: ReadSample
  private pending: Uint8Array = new Uint8Array(0)

  /** @param format a format for which `isReadable` holds. */
  constructor(format: SampleFormat) {
    this.channels = format.channels
    this.sampleWidth = format.bits / 8
    this.read = decoderOf(format)!
  }

  push(chunk: Uint8Array): Float32Array[] {
    const bytes = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk])
    const frameSize = this.sampleWidth * this.channels
    const count = Math.floor(bytes.length / frameSize)
    this.pending = bytes.slice(count * frameSize)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    return Array.from({ length: this.channels }, (_, channel) => {
      const samples = new Float32Array(count)
      for (let index = 0; index < count; index++)
        samples[index] = Math.min(Math.max(this.read(view, index * frameSize + channel * this.sampleWidth) || 0, -1), 1)
      return samples
    })
  }
}
