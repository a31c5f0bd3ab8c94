import { expect, test } from 'vitest'
import { totalUsage } from '../../src/canonical/usage.ts'

test('counts are added, whoever tells them, also those by kind', () => {
  const a = { input: 3, output: 2, inputBy: { text: 1, image: 2 }, searches: 1 }
  const b = { input: 4, cacheRead: 1, inputBy: { text: 4 }, searches: 2 }
  expect(totalUsage([a, b])).toEqual({
    input: 7,
    output: 2,
    cacheRead: 1,
    inputBy: { text: 5, image: 2 },
    searches: 3,
  })
})

test('a total only one of them tells is a total of all', () => {
  expect(
    totalUsage([
      { input: 3, total: 10 },
      { input: 4, output: 1 },
    ]),
  ).toEqual({ input: 7, output: 1, total: 15 })
  expect(
    totalUsage([
      { input: 3, output: 1, total: 5 },
      { input: 2, total: 1 },
    ]),
  ).toEqual({ input: 5, output: 1 })
})

test('how one was spelled is not said of all, and nothing spent by nobody is unknown', () => {
  expect(totalUsage([{ input: 1, spelling: { chat: { prompt: {} } } }])).toEqual({ input: 1 })
  expect(totalUsage([])).toBeUndefined()
})
