import { expect, test } from 'vitest'
import { isCounted } from '../../../src/store/usage/row.ts'

test('what upstreams report is counted where it names tokens that can be true', () => {
  expect(isCounted({ input: 5, output: 2 })).toBe(true)
  expect(isCounted({ input: 0 })).toBe(true)
  expect(isCounted({ output: 1e7 })).toBe(true)
  expect(isCounted({})).toBe(false)
  expect(isCounted({ searches: 3 })).toBe(false)
  expect(isCounted({ input: Number.MAX_SAFE_INTEGER, output: 2 })).toBe(false)
  expect(isCounted({ input: 5, output: 1e300 })).toBe(false)
  expect(isCounted({ input: Number.POSITIVE_INFINITY })).toBe(false)
})
