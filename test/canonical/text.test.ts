import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Offsets } from '../../src/canonical/text.ts'

const texts = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀', '\ud83d', '\ude00', 'ſ') }))

test('bytes before a unit are those of the text up to it', () => {
  fc.assert(
    fc.property(texts, text => {
      const offsets = new Offsets(text)
      for (let unit = 0; unit <= text.length; unit++)
        expect(offsets.byteAt(unit)).toBe(Buffer.byteLength(text.slice(0, unit)))
    }),
    { numRuns: 1000 },
  )
})

test('units before a byte are those of the text that the bytes up to it hold', () => {
  fc.assert(
    fc.property(texts, text => {
      const offsets = new Offsets(text)
      const bytes = Buffer.from(text)
      for (let byte = -1; byte <= bytes.length + 2; byte++)
        expect(offsets.unitAt(byte)).toBe(bytes.toString('utf8', 0, Math.max(0, byte)).length)
    }),
    { numRuns: 1000 },
  )
})
