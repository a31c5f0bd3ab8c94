import { expect, test } from 'vitest'
import { filterBank } from '../../../src/voice/audio/low-pass.ts'

test('filters of common sample rates are cached', () => {
  expect(filterBank(44_100, 24_000)).toBe(filterBank(44_100, 24_000))
  expect(filterBank(8000, 24_000)).toBe(filterBank(16_000, 48_000))
})

test('filters of rates that upstreams choose do not fill the memory', () => {
  expect(filterBank(8001, 8000)).not.toBe(filterBank(8001, 8000))
  const first = filterBank(48_000, 24_000)
  for (let index = 1; index <= 32; index++) filterBank(8000 + 240 * index, 24_000)
  expect(filterBank(48_000, 24_000)).not.toBe(first)
})
