import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeBase64, encodeBase64 } from '../../../src/canonical/base64.ts'
import { Base64Stream } from '../../../src/canonical/media/base64.ts'

/** Passes the chunks through a stream. Returns the strings that it emits. */
function passed(chunks: readonly string[]): string[] {
  const stream = new Base64Stream()
  return [...chunks.map(chunk => stream.push(chunk)), stream.end()].filter(text => text !== '')
}

/** Splits a text at the positions. */
const cutAt = (text: string, positions: readonly number[]): string[] => {
  const sorted = [...new Set(positions.map(position => position % (text.length + 1)))].sort((a, b) => a - b)
  return [0, ...sorted].map((start, index) => text.slice(start, sorted[index] ?? text.length))
}

test('a chunk that ends within a group of four characters loses no bits', () => {
  expect(passed(['AAE', 'CAwQF']).join('')).toBe('AAECAwQF')
  expect(passed(['A', 'A', 'E', 'C', 'A', 'w', '=', '=']).join('')).toBe('AAECAw==')
  expect(passed(['AAECAw', 'QF']).join('')).toBe('AAECAwQF')
})

test('a cut chunk may contain line breaks', () => {
  expect(passed(['AAE\n', 'CAwQF\n']).join('')).toBe('AAECAwQF')
  expect(passed(['AA\n==\n', 'AQ==\n']).join('')).toBe('AAE=')
})

test('chunks cut anywhere give the bytes of the whole text, in no more chunks than arrived', () => {
  const bytes = fc.uint8Array({ maxLength: 40 })
  fc.assert(
    fc.property(bytes, fc.array(fc.nat(60), { maxLength: 8 }), fc.boolean(), (all, positions, isPadded) => {
      const text = encodeBase64(all)
      const chunks = cutAt(isPadded ? text : text.replaceAll('=', ''), positions)
      const out = passed(chunks)
      expect(out.join('')).toBe(text)
      expect(out.length).toBeLessThanOrEqual(chunks.length)
    }),
  )
})

test('chunks that are padded each give the bytes of all of them, in no more chunks than arrived', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 10 })), pieces => {
      const out = passed(pieces.map(encodeBase64))
      expect([...decodeBase64(out.join(''))]).toEqual(pieces.flatMap(piece => [...piece]))
      expect(out.length).toBeLessThanOrEqual(pieces.length)
    }),
  )
})
