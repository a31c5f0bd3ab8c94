import { expect, test } from 'vitest'
import type { Bytes } from '../../src/canonical/bytes.ts'
import { peekBytes, readAllBytes } from '../../src/canonical/read-bytes.ts'

/** Bytes that arrive in chunks, of a known size or not, and the chunks that were read. */
function bytesOf(chunks: readonly string[], size?: number) {
  const read: string[] = []
  const bytes = {
    ...(size === undefined ? {} : { size }),
    async *read() {
      for (const chunk of chunks) {
        read.push(chunk)
        yield Buffer.from(chunk)
      }
    },
  } as unknown as Bytes
  return { bytes, read }
}

test('bytes are read up to a limit, whether their size is known or not', async () => {
  for (const size of [undefined, 5]) {
    const all = () => bytesOf(['abc', '', 'de'], size).bytes
    expect((await readAllBytes(all(), 5))?.toString()).toBe('abcde')
    expect((await readAllBytes(all(), 6))?.toString()).toBe('abcde')
    expect(await readAllBytes(all(), 4)).toBeUndefined()
  }
  expect((await readAllBytes(bytesOf([]).bytes, 0))?.length).toBe(0)
})

test('nothing is read of bytes that are known to be too many, and no chunk after the limit', async () => {
  const known = bytesOf(['abc', 'de'], 5)
  expect([await readAllBytes(known.bytes, 4), known.read]).toEqual([undefined, []])
  const unknown = bytesOf(['abc', 'de', 'f'])
  expect([await readAllBytes(unknown.bytes, 4), unknown.read]).toEqual([undefined, ['abc', 'de']])
})

test('the first bytes are peeked in whole chunks, and are read again with the rest', async () => {
  for (const [least, head, isAll] of [
    [undefined, 'abc', false],
    [4, 'abcde', false],
    [99, 'abcdef', true],
  ] as const) {
    const { bytes } = bytesOf(['', 'abc', 'de', 'f'], 6)
    const peeked = await peekBytes(bytes, least)
    expect([Buffer.from(peeked.head).toString(), peeked.isAll, peeked.whole.size]).toEqual([head, isAll, 6])
    expect((await readAllBytes(peeked.whole, 6))?.toString()).toBe('abcdef')
  }
  const none = await peekBytes(bytesOf([]).bytes)
  expect([none.head.length, none.isAll, 'size' in none.whole]).toEqual([0, true, false])
})

test('a reader that stops early ends the chunks', async () => {
  let isEnded = false
  const bytes = {
    async *read() {
      try {
        yield Buffer.from('abc')
        yield Buffer.from('de')
      } finally {
        isEnded = true
      }
    },
  } as unknown as Bytes
  const { whole } = await peekBytes(bytes)
  for await (const chunk of whole.read()) {
    expect(Buffer.from(chunk).toString()).toBe('abc')
    break
  }
  expect(isEnded).toBe(true)
})
