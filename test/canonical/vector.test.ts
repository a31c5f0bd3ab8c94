import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { base64Of, encodingOf, numbersIn, vectorAs } from '../../src/canonical/vector.ts'
import { holds } from '../laws/support.ts'

const floats = fc.array(fc.float({ noNaN: true }))

describe('vectors', () => {
  test('of 32-bit floats are the same in numbers and in base64, bit by bit', () => {
    holds(floats, numbers => {
      expect(numbersIn(base64Of(numbers))).toEqual(numbers)
    })
  })

  test('are little-endian whatever wrote them (docs/wire/embeddings.md#encodings)', () => {
    const bytes = Buffer.alloc(8)
    bytes.writeFloatLE(1.5, 0)
    bytes.writeFloatLE(-0.25, 4)
    expect(numbersIn(bytes.toString('base64'))).toEqual([1.5, -0.25])
    expect(base64Of([1.5, -0.25])).toBe(bytes.toString('base64'))
  })

  test('that are in the encoding already are not touched', () => {
    const numbers = [1, 2]
    expect(vectorAs(numbers, 'float')).toBe(numbers)
    expect(vectorAs('AACAPw==', 'base64')).toBe('AACAPw==')
    expect([encodingOf(numbers), encodingOf('AACAPw==')]).toEqual(['float', 'base64'])
  })

  test('of any text at all are some numbers', () => {
    holds(fc.string(), text => {
      expect(numbersIn(text).every(one => typeof one === 'number')).toBe(true)
    })
    expect(numbersIn(Buffer.from([0, 0, 128, 63, 1, 2]).toString('base64'))).toEqual([1])
  })
})
