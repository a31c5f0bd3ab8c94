import { expect, test } from 'vitest'
import { totalUsage } from '../../src/canonical/result.ts'

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

test('how one was spelled is not said of all, and nothing spent by nobody is unknown', () => {
  expect(totalUsage([{ input: 1, spelling: { chat: { whole: {} } } }])).toEqual({ input: 1 })
  expect(totalUsage([])).toBeUndefined()
})
