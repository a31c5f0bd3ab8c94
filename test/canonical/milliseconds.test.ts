import { expect, test } from 'vitest'
import { msSince, roundedMs } from '../../src/canonical/milliseconds.ts'

test.each([
  [0, 0],
  [0.04, 0],
  [0.05, 0.1],
  [1234.5678, 1234.6],
  [-2.26, -2.3],
])('%f milliseconds are rounded to %f', (ms, rounded) => {
  expect(roundedMs(ms)).toBe(rounded)
})

test('the time since a start grows and has one decimal', () => {
  const ms = msSince(performance.now() - 1000)
  expect(ms).toBeGreaterThanOrEqual(1000)
  expect(ms * 10).toBe(Math.round(ms * 10))
})
