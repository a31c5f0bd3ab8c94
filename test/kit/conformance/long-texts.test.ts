import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withLongTexts } from '../../../src/kit/conformance/long-texts.ts'

test('a long text is JSON of its size, but for a part of its last character', () => {
  const texts = fc.record({
    of: fc.string({ minLength: 1, unit: 'grapheme' }),
    bytes: fc.integer({ min: 1, max: 999 }),
  })
  fc.assert(
    fc.property(texts, long => {
      const { a } = JSON.parse(withLongTexts(Buffer.from(`{"a":"\${long}."}`), { long }).toString()) as { a: string }
      const text = a.slice(0, -1)
      expect(long.of.repeat(long.bytes).startsWith(text)).toBe(true)
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(long.bytes)
      expect(Buffer.byteLength(text)).toBeGreaterThan(long.bytes - 4)
    }),
  )
})

test('bytes without long texts stay the same', () => {
  const bytes = Buffer.from(`\${long}`)
  expect(withLongTexts(bytes, {})).toBe(bytes)
})
