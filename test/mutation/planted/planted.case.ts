import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { distance, LIMIT, sumBelow } from './planted.ts'

test('a value of the module', () => {
  expect(LIMIT).toBe(6)
})

test('a law', () => {
  fc.assert(fc.property(fc.integer(), fc.integer(), (a, b) => distance(a, b) === Math.abs(a - b)))
})

test('a loop', () => {
  expect(sumBelow(4)).toBe(6)
})

test('random values are the same for every mutant', () => {
  distance(LIMIT, sumBelow(1))
  expect(inject('seed')).toBe(Number(process.env['SEED']))
  expect(fc.sample(fc.nat(1e6), 3)).toEqual(fc.sample(fc.nat(1e6), { numRuns: 3, seed: 1 }))
})
