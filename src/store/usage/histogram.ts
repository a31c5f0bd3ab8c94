import { roundedMs } from '../../canonical/milliseconds.ts'

/**
 * Upper bounds of the histogram's intervals, in milliseconds. The last interval has no bound. Each bound is about 1.6
 * times the previous one, which limits the error of percentiles to that factor.
 */
export const BOUNDS: readonly number[] = Array.from({ length: 27 }, (_, at) => Math.round(4 * 1.6 ** at))

/** Number of intervals. */
export const INTERVALS = BOUNDS.length + 1

/** Returns the index of the interval that contains a duration: the first whose bound is not smaller. */
export function intervalOf(milliseconds: number): number {
  let low = 0
  let high = BOUNDS.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (milliseconds <= BOUNDS[middle]!) high = middle
    else low = middle + 1
  }
  return low
}

/** Percentiles in milliseconds. */
export interface Percentiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** Estimates percentiles from a histogram. Returns undefined for an empty one. */
export function percentilesOf(counts: readonly number[]): Percentiles | undefined {
  const all = counts.reduce((sum, count) => sum + count, 0)
  if (all === 0) return undefined
  const at = (share: number): number => percentile(counts, Math.max(1, Math.ceil(all * share)))
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

/** Returns the duration at a rank, assuming that durations are spread evenly within an interval. */
function percentile(counts: readonly number[], rank: number): number {
  let below = 0
  for (const [interval, count] of counts.entries()) {
    if (below + count < rank) {
      below += count
      continue
    }
    const from = BOUNDS[interval - 1] ?? 0
    const to = BOUNDS[interval] ?? from * 1.6
    return roundedMs(from + ((to - from) * (rank - below)) / count)
  }
  return BOUNDS.at(-1)!
}
