/** A median and the interval that contains the true one in 95 of 100 runs. */
export interface Estimate {
  readonly value: number
  readonly low: number
  readonly high: number
}

/** Chance that the true median is outside the interval, on both sides together. */
const OUTSIDE = 0.05

/**
 * Estimates a median from its samples. The bounds are samples themselves, chosen by the binomial distribution of the
 * number of samples below the median, so that nothing is assumed about the distribution of the noise. With fewer than
 * six samples they are the smallest and the largest, which is less certain.
 */
export function estimate(samples: readonly number[]): Estimate {
  const sorted = samples.toSorted((a, b) => a - b)
  const skipped = skippedAtEachEnd(sorted.length)
  return { value: median(sorted), low: sorted[skipped]!, high: sorted.at(-1 - skipped)! }
}

/** Returns how many samples at each end are outside the interval. */
function skippedAtEachEnd(count: number): number {
  let chance = 0.5 ** count
  let tail = chance
  let skipped = 0
  while (2 * tail <= OUTSIDE) {
    skipped++
    chance *= (count - skipped + 1) / skipped
    tail += chance
  }
  return Math.max(0, skipped - 1)
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  return Number.isInteger(half) ? (sorted[half - 1]! + sorted[half]!) / 2 : sorted[Math.floor(half)]!
}

/** Returns the 99th percentile of values in ascending order. */
export const percentile99 = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length * 0.99)]!
