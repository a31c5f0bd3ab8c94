import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { ImageStore } from '../../src/gateway/image-store.ts'

const read = async (bytes: AsyncIterable<Uint8Array>): Promise<string> => {
  const pieces: Uint8Array[] = []
  for await (const piece of bytes) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

const keep = (pictures: ImageStore, text: string): Promise<string> => pictures.keep('image/png', Buffer.from(text))

test('a picture is there until its hour is over, and any number of times', async () => {
  let now = 1_000_000
  const pictures = new ImageStore({}, () => now)
  const token = await keep(pictures, 'a boat')
  now += 3_599_000
  const kept = pictures.get(token)!
  expect(kept.mediaType).toBe('image/png')
  expect(kept.seconds).toBe(1)
  expect(await read(kept.bytes.read())).toBe('a boat')
  expect(await read(kept.bytes.read())).toBe('a boat')
  now += 1000
  expect(pictures.get(token)).toBeUndefined()
  pictures.close()
})

test('tokens are long, and no two alike', async () => {
  const pictures = new ImageStore()
  const tokens = await Promise.all(Array.from({ length: 20 }, () => keep(pictures, 'x')))
  expect(new Set(tokens).size).toBe(20)
  for (const token of tokens) expect(Buffer.from(token, 'base64url')).toHaveLength(32)
  pictures.close()
})

test('what is more than there is room for pushes out the oldest', async () => {
  const few = new ImageStore({ count: 2 })
  const [first, second, third] = [await keep(few, 'a'), await keep(few, 'b'), await keep(few, 'c')]
  expect([first, second, third].map(token => few.get(token) !== undefined)).toEqual([false, true, true])
  few.close()
  const small = new ImageStore({ size: 10 })
  const [one, two] = [await keep(small, '123456'), await keep(small, '123456')]
  expect([one, two].map(token => small.get(token) !== undefined)).toEqual([false, true])
  small.close()
})

test('whoever reads one that is pushed out reads it to its end', async () => {
  const pictures = new ImageStore({ count: 1 })
  const long = 'x'.repeat(2_000_000)
  const reading = pictures
    .get(await keep(pictures, long))!
    .bytes.read()
    [Symbol.asyncIterator]()
  let text = String.fromCharCode(...(await reading.next()).value!.subarray(0, 1))
  let size = 262_144
  await keep(pictures, 'another')
  for (let step = await reading.next(); step.done !== true; step = await reading.next()) size += step.value.length
  text += String(size)
  expect(text).toBe(`x${long.length}`)
  pictures.close()
})

test('nothing of it has a name on the disk', async () => {
  const pictures = new ImageStore()
  await keep(pictures, 'a boat')
  expect(readdirSync(tmpdir()).filter(name => /^interlingua-[0-9a-f-]{36}$/.test(name))).toEqual([])
  pictures.close()
})
