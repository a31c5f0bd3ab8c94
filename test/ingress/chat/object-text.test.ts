import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseObject } from '../../../src/canonical/node.ts'
import { ObjectText } from '../../../src/ingress/chat/object-text.ts'

const signs = fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', '1', 'a', ' ', '\n') })
const pieces = fc.oneof(
  fc.array(signs),
  fc.tuple(fc.json(), fc.array(fc.nat(20)), signs).map(([text, cuts, more]) => {
    const places = [0, ...cuts.sort((a, b) => a - b), text.length]
    return [...places.slice(1).map((to, index) => text.slice(places[index], to)), more]
  }),
)

test('a text is complete exactly when it parses as an object', () => {
  fc.assert(
    fc.property(pieces, pieces => {
      const text = new ObjectText('')
      let said = ''
      for (const piece of pieces) {
        text.add(piece)
        said += piece
        expect(text.isComplete, said).toBe(parseObject(said) !== undefined)
      }
    }),
    { numRuns: 3000 },
  )
})
