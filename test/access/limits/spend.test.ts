import { expect, test } from 'vitest'
import { DAYS, Spend } from '../../../src/access/limits/spend.ts'

const DAY = 86_400_000
const NOON = Date.UTC(2026, 10, 23, 12)

test('a day that begins has spent nothing', () => {
  const spend = new Spend(DAYS, NOON, 5)
  spend.add(NOON, 2)
  expect(spend.current(NOON)).toBe(7)
  expect(spend.current(NOON + DAY)).toBe(0)
})

test('a clock that goes back over midnight gives nothing back', () => {
  const midnight = Date.UTC(2026, 10, 24)
  const spend = new Spend(DAYS, midnight + 1000, 0)
  spend.add(midnight + 1000, 3)
  expect(spend.current(midnight - 1000)).toBe(3)
})

test('a clock that was years ahead for a moment does not stop the days', () => {
  const spend = new Spend(DAYS, NOON, 0)
  spend.add(NOON + 900 * DAY, 1)
  spend.add(NOON, 4)
  expect(spend.current(NOON)).toBe(5)
  expect(spend.current(NOON + DAY)).toBe(0)
})
