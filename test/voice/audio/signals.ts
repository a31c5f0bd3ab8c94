/** Synthetic audio: 16-bit mono samples. */

export const tone = (frequency: number, rate: number, seconds: number, amplitude = 10_000): Float64Array =>
  Float64Array.from(
    { length: Math.round(rate * seconds) },
    (_, index) => amplitude * Math.sin((2 * Math.PI * frequency * index) / rate),
  )

/** Reproducible noise: the same numbers in every run. */
export function noise(count: number, amplitude = 10_000, seed = 1): Float64Array {
  let state = seed
  return Float64Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return amplitude * (state / 2 ** 31 - 1)
  })
}

export function pcm(samples: Float64Array): Uint8Array {
  const bytes = Buffer.alloc(2 * samples.length)
  for (const [index, sample] of samples.entries())
    bytes.writeInt16LE(Math.max(-32_768, Math.min(32_767, Math.round(sample))), 2 * index)
  return bytes
}

export const samplesOf = (bytes: Uint8Array): Float64Array => {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  return Float64Array.from({ length: bytes.length >> 1 }, (_, index) => view.readInt16LE(2 * index))
}

export const silence = (rate: number, seconds: number): Uint8Array => new Uint8Array(2 * Math.round(rate * seconds))

/** Root mean square of the samples, ignoring `margin` samples at both ends. */
export function loudness(samples: Float64Array, margin = 0): number {
  const middle = samples.subarray(margin, samples.length - margin)
  return Math.sqrt(middle.reduce((sum, sample) => sum + sample * sample, 0) / middle.length)
}

/** Root mean square of one frequency's component. */
export function loudnessAt(samples: Float64Array, frequency: number, rate: number, margin = 0): number {
  let [real, imaginary, count] = [0, 0, 0]
  for (let index = margin; index < samples.length - margin; index++, count++) {
    real += samples[index]! * Math.cos((2 * Math.PI * frequency * index) / rate)
    imaginary += samples[index]! * Math.sin((2 * Math.PI * frequency * index) / rate)
  }
  return (Math.SQRT2 * Math.hypot(real, imaginary)) / count
}

export const joined = (...pieces: readonly Uint8Array[]): Uint8Array => Buffer.concat(pieces)
