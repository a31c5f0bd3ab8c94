import { joined, noise, pcm, silence } from '../audio/signals.ts'

const RATE = 16_000

/**
 * Synthesizes audio at 16 kHz that the detector accepts as speech: pulses at a voice's pitch, filtered by resonances of
 * a mouth, in syllables over faint noise.
 */
export function voice(seconds: number): Uint8Array {
  const count = Math.round(seconds * RATE)
  const pulses = new Float64Array(count)
  for (let at = 0; at < count; at += Math.round(RATE / (120 + 20 * Math.sin(at / 9000)))) pulses[at] = 1
  const formants = [700, 1200, 2600].map((frequency, index) => resonance(pulses, frequency, 80 + 40 * index))
  const samples = pulses.map((_, index) => formants.reduce((sum, one, place) => sum + one[index]! / (place + 1), 0))
  const peak = samples.reduce((most, one) => Math.max(most, Math.abs(one)), 0)
  const hiss = noise(count, 30)
  return pcm(samples.map((one, index) => (12_000 * one * syllables(index)) / peak + hiss[index]!))
}

/** Loud for four fifths of each quarter of a second. */
const syllables = (index: number): number => ((index % 4000) / 4000 < 0.8 ? 1 : 0.25)

function resonance(input: Float64Array, frequency: number, width: number): Float64Array {
  const radius = Math.exp((-Math.PI * width) / RATE)
  const [first, second] = [2 * radius * Math.cos((2 * Math.PI * frequency) / RATE), -radius * radius]
  const out = new Float64Array(input.length)
  for (let index = 0; index < out.length; index++)
    out[index] = input[index]! + first * (out[index - 1] ?? 0) + second * (out[index - 2] ?? 0)
  return out
}

export const quiet = (seconds: number): Uint8Array => silence(RATE, seconds)

/** A turn, followed by the silence that ends it. */
export const turn = (seconds = 1): Uint8Array => joined(quiet(0.4), voice(seconds), quiet(0.7))
