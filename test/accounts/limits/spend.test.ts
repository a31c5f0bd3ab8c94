import { expect, test } from 'vitest'
import { DAYS, Spend } from '../../../src/accounts/limits/spend.ts'

const DAY = 86_400_000
const NOON = Date.UTC(2026, 10, 23, 12)

test('a day that begins has spent nothing', () => {
  const spend = new Spend(DAYS, NOON, 5)
  spend.add(NOON, 2)
  expect(spend.current(NOON)).toBe(7)
  expect(spend.current(NOON + DAY)).toBe(0)
})

test('a clock that goes over midnight and back takes nothing along and forgets nothing', () => {
  const midnight = Date.UTC(2026, 10, 24)
  const spend = new Spend(DAYS, midnight - 1000, 5)
  expect([spend.isKnown(midnight), spend.current(midnight)]).toEqual([true, 0])
  spend.add(midnight, 2)
  expect([spend.isKnown(midnight - 1), spend.current(midnight - 1)]).toEqual([true, 5])
  spend.add(midnight - 1, 1)
  expect(spend.current(midnight)).toBe(2)
  expect(spend.current(midnight - 1)).toBe(6)
})

test('a clock that goes back to a day never seen is told', () => {
  const spend = new Spend(DAYS, NOON, 1)
  expect([spend.isKnown(NOON + DAY), spend.isKnown(NOON - DAY)]).toEqual([true, false])
  spend.begin(NOON - DAY, 4)
  expect([spend.current(NOON - DAY), spend.current(NOON)]).toEqual([4, 1])
})

test('what was spent in a day to come is kept', () => {
  const spend = new Spend(DAYS, NOON + DAY, 1)
  expect([spend.isIdle(NOON), spend.isIdle(NOON + DAY), spend.isIdle(NOON + 2 * DAY)]).toEqual([false, false, true])
})

test('a key is idle where nothing was spent, or the clock was set back from a day in which something was', () => {
  expect(new Spend(DAYS, NOON, 0).isIdle(NOON)).toBe(true)
  for (const amount of [0, 1]) {
    const spend = new Spend(DAYS, NOON + DAY, amount)
    spend.begin(NOON, 0)
    expect(spend.isIdle(NOON)).toBe(amount === 0)
    expect(spend.isIdle(NOON + 2 * DAY)).toBe(true)
  }
})
