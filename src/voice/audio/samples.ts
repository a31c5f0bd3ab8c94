import type { AudioFormat } from '../../canonical/voice-session.ts'
import { alaw, type Law, mulaw } from './g711.ts'

/** Decodes bytes into samples between -32768 and 32767. Chunks may end in the middle of a sample. */
export interface SampleReader {
  push(bytes: Uint8Array): Float64Array
  /** Discards a buffered half of a sample. */
  reset(): void
}

/** Encodes samples as bytes. Samples are rounded and clipped to 16 bits. */
export type SampleWriter = (samples: Float64Array) => Uint8Array

const LAWS = { mulaw, alaw }

export const sampleReader = ({ encoding }: AudioFormat): SampleReader =>
  encoding === 'pcm16' ? new PcmReader() : lawReader(LAWS[encoding]())

export const sampleWriter = ({ encoding }: AudioFormat): SampleWriter =>
  encoding === 'pcm16' ? writePcm : lawWriter(LAWS[encoding]())

class PcmReader implements SampleReader {
  private half: number | undefined

  push(bytes: Uint8Array): Float64Array {
    const bufferedBytes = this.half === undefined ? 0 : 1
    const count = (bytes.length + bufferedBytes) >> 1
    const samples = new Float64Array(count)
    let at = 0
    let index = 0
    if (bufferedBytes === 1 && count > 0) samples[index++] = toSigned(this.half! | (bytes[at++]! << 8))
    for (; index < count; index++, at += 2) samples[index] = toSigned(bytes[at]! | (bytes[at + 1]! << 8))
    if (at < bytes.length) this.half = bytes[at]!
    else if (count > 0) this.half = undefined
    return samples
  }

  reset(): void {
    this.half = undefined
  }
}

const toSigned = (word: number): number => (word << 16) >> 16

function writePcm(samples: Float64Array): Uint8Array {
  const bytes = new Uint8Array(2 * samples.length)
  for (let index = 0; index < samples.length; index++) {
    const sample = toInt16(samples[index]!)
    bytes[2 * index] = sample & 0xff
    bytes[2 * index + 1] = (sample >> 8) & 0xff
  }
  return bytes
}

const lawReader = ({ levels }: Law): SampleReader => ({
  push(bytes) {
    const samples = new Float64Array(bytes.length)
    for (let index = 0; index < bytes.length; index++) samples[index] = levels[bytes[index]!]!
    return samples
  },
  reset() {},
})

const lawWriter =
  ({ codes }: Law): SampleWriter =>
  samples => {
    const bytes = new Uint8Array(samples.length)
    for (let index = 0; index < samples.length; index++) bytes[index] = codes[toInt16(samples[index]!) & 0xffff]!
    return bytes
  }

const toInt16 = (sample: number): number => Math.max(-32_768, Math.min(32_767, Math.round(sample)))
