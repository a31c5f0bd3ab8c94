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

test('a clock that goes back over midnight is told', () => {
  const midnight = Date.UTC(2026, 10, 24)
  const spend = new Spend(DAYS, midnight + 1000, 0)
  expect([spend.isAhead(midnight + 500), spend.isAhead(midnight - 500)]).toEqual([false, true])
})
