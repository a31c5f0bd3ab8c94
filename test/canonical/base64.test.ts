import fc from 'fast-check'
import { expect, test } from 'vitest'
import { portable } from '../../src/canonical/base64.ts'
import { holds } from '../laws/support.ts'

const base64Like = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'AZaz09+/-_=\n .é') }),
  fc.uint8Array({ maxLength: 100 }).map(bytes => Buffer.from(bytes).toString('base64')),
  fc.string(),
)

test('base64 is decoded without Node as Node does, whatever it contains', () => {
  holds(base64Like, text => {
    expect(Buffer.from(portable.decode(text)).toString('hex')).toBe(Buffer.from(text, 'base64').toString('hex'))
  })
})

test('base64 is encoded without Node as Node does', () => {
  holds(fc.uint8Array({ maxLength: 20_000 }), bytes => {
    expect(portable.encode(bytes)).toBe(Buffer.from(bytes).toString('base64'))
  })
})
