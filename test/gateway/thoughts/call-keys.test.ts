import { expect, test } from 'vitest'
import { isNumberedId } from '../../../src/gateway/thoughts/call-keys.ts'

test.each<[string, boolean]>([
  ['call_0_get_time', true],
  ['functions.get_time:0', true],
  ['call_0', true],
  ['get_time', true],
  ['', true],
  ['_', true],
  ['call_', true],
  ['0', true],
  ['_0', false],
  ['call_12345', false],
  ['call', false],
  ['toolu_01Ab2Cd3Ef4', false],
  [`call_${'0'.repeat(33)}1f`, true],
  ['000000002', true],
  ['call_00_0123456789abcdefghij', false],
])('whether the id %j only numbers the calls of its conversation', (id, counted) => {
  expect(isNumberedId(id, 'get_time')).toBe(counted)
})

test('an id of many marks takes time that grows as its length', () => {
  const began = performance.now()
  expect(isNumberedId(`a${'-'.repeat(100_000)}a1a`, 'get_time')).toBe(false)
  expect(performance.now() - began).toBeLessThan(500)
})
