import { putNewest } from '../../canonical/bounded-map.ts'

/**
 * Number of zero crossings of the sinc on each side. With 24, the transition band is 18 % of the lower rate's Nyquist
 * frequency.
 */
const CROSSINGS = 24
/**
 * Middle of the transition band, as a fraction of the lower rate's Nyquist frequency. The band ends at the Nyquist
 * frequency.
 */
const CUTOFF = 0.91
/** Shape of the Kaiser window. 6.76 attenuates by 70 dB beyond the transition band. */
const BETA = 6.76

/** A polyphase low-pass filter, with one row of weights for each output phase between two input samples. */
export interface FilterBank {
  /** Resampling ratio in lowest terms. Output sample n is at input position `n down / up`. */
  readonly up: number
  readonly down: number
  /** Number of input samples weighted for each output sample. Always even. */
  readonly taps: number
  /** `up` rows of `taps` weights. Each row sums to 1. */
  readonly rows: Float64Array
}

const banks = new Map<string, FilterBank>()
/** Maximum number of cached banks. Needed because upstreams choose the sample rates. The oldest bank is evicted. */
const MAX_BANKS = 32
/**
 * Maximum number of rows of a cached bank. Common sample rates need fewer. A bank for an unusual ratio takes up to 37
 * MB.
 */
const MAX_ROWS = 640

/** Returns the filter between two sample rates in Hz. Banks for common ratios are cached. */
export function filterBank(from: number, to: number): FilterBank {
  const divisor = greatestDivisor(from, to)
  const [up, down] = [to / divisor, from / divisor]
  const name = `${up}/${down}`
  const known = banks.get(name)
  if (known !== undefined) return known
  const bank = makeBank(up, down)
  if (up > MAX_ROWS) return bank
  putNewest(banks, name, bank, MAX_BANKS)
  return bank
}

function makeBank(up: number, down: number): FilterBank {
  const stretch = Math.max(1, down / up)
  const half = Math.ceil(CROSSINGS * stretch)
  const taps = 2 * half
  const frequency = CUTOFF / stretch
  const rows = new Float64Array(up * taps)
  for (let phase = 0; phase < up; phase++) {
    const row = rows.subarray(phase * taps, (phase + 1) * taps)
    let sum = 0
    for (let tap = 0; tap < taps; tap++) {
      const distance = phase / up - (tap - half + 1)
      row[tap] = sinc(frequency * distance) * kaiser(distance / half)
      sum += row[tap]!
    }
    for (let tap = 0; tap < taps; tap++) row[tap]! /= sum
  }
  return { up, down, taps, rows }
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x))

const kaiser = (x: number): number => (Math.abs(x) > 1 ? 0 : bessel(BETA * Math.sqrt(1 - x * x)) / bessel(BETA))

/** The modified Bessel function of the first kind, order 0, as a power series. */
function bessel(x: number): number {
  let [sum, term] = [1, 1]
  for (let n = 1; term > sum * 1e-17; n++) {
    term *= (x / (2 * n)) ** 2
    sum += term
  }
  return sum
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b))
