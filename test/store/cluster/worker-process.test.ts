import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Lines } from '../../../src/store/cluster/worker-process.ts'

test('lines come whole, however the output is cut, and nothing is lost', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', 'é', '😀', '\n') }), fc.array(fc.nat(20)), (text, cuts) => {
      const bytes = Buffer.from(text)
      const written: string[] = []
      const lines = new Lines(one => written.push(one))
      let from = 0
      for (const size of [...cuts, bytes.length]) {
        lines.push(bytes.subarray(from, from + size))
        from += size
      }
      lines.end()
      const whole = text === '' || text.endsWith('\n') ? text : `${text}\n`
      expect(written.join('')).toBe(whole)
      for (const one of written) expect(one.endsWith('\n')).toBe(true)
    }),
  )
})

test('a line without an end is broken before it fills the memory', () => {
  const written: string[] = []
  const lines = new Lines(one => written.push(one))
  for (let index = 0; index < 40; index++) lines.push(Buffer.alloc(64 * 1024, 'x'))
  expect(written.length).toBeGreaterThan(0)
})
