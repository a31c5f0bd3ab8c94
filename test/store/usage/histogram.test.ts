import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BOUNDS, INTERVALS, intervalOf, percentilesOf } from '../../../src/store/usage/histogram.ts'

const countsOf = (durations: readonly number[]): number[] => {
  const counts = new Array<number>(INTERVALS).fill(0)
  for (const duration of durations) counts[intervalOf(duration)]!++
  return counts
}

test('a duration belongs to the first interval that it does not exceed', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), duration => {
      const interval = intervalOf(duration)
      expect(duration).toBeLessThanOrEqual(BOUNDS[interval] ?? Number.POSITIVE_INFINITY)
      expect(duration).toBeGreaterThan(BOUNDS[interval - 1] ?? -1)
    }),
  )
})

test('percentiles are off by a factor of 1.75 at most, above the shortest interval', () => {
  const durations = fc.array(fc.double({ min: BOUNDS[0]!, max: BOUNDS.at(-1)!, noNaN: true }), { minLength: 1 })
  fc.assert(
    fc.property(durations, all => {
      const sorted = [...all].sort((a, b) => a - b)
      const told = percentilesOf(countsOf(all))!
      for (const [share, value] of [
        [0.5, told.p50],
        [0.95, told.p95],
        [0.99, told.p99],
      ] as const) {
        const exact = sorted[Math.max(1, Math.ceil(all.length * share)) - 1]!
        expect(Math.max(value / exact, exact / value)).toBeLessThanOrEqual(1.75)
      }
    }),
  )
})

test('there are none of nothing', () => expect(percentilesOf(countsOf([]))).toBeUndefined())
