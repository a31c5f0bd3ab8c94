import { expect, test } from 'vitest'
import { decodedChunks, isDecodable } from '../../../src/kit/recordings/chunks.ts'

test.each(['constructor', 'toString', '__proto__', 'zz'])(
  '%s is no encoding, although every object has it',
  async name => {
    expect(isDecodable(name)).toBe(false)
    expect(isDecodable(`${name};q=1`)).toBe(false)
    expect(await decodedChunks([{ ms: 0, bytes: Buffer.from('a') }], name)).toBeUndefined()
  },
)

test('known encodings are found in any case', () => {
  expect(['gzip', 'BR', 'identity', 'deflate;q=0.5'].map(isDecodable)).toEqual([true, true, true, true])
})
