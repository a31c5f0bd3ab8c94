import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterEach, expect, test } from 'vitest'
import { base64Chunks } from '../../src/gateway/image-delivery.ts'
import { ImageStore, type ImageStoreLimits, type ImageStoreOptions } from '../../src/gateway/image-store.ts'
import { UNAVAILABLE } from '../../src/store/fault.ts'
import { openSqlite, type Store } from '../../src/store/store.ts'

const read = async (bytes: AsyncIterable<Uint8Array>): Promise<string> => {
  const pieces: Uint8Array[] = []
  for await (const piece of bytes) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

const opened: (Pick<ImageStore, 'close'> | Store)[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

let now = 1_000_000
const stored = async (): Promise<Store> => {
  const store = await openSqlite(':memory:', () => now)
  opened.push(store)
  return store
}

/** One instance, with its own store or a shared one. */
async function open(
  limits: Partial<ImageStoreLimits> = {},
  more: Partial<ImageStoreOptions> = {},
): Promise<ImageStore> {
  const shared = more.shared ?? (await stored()).shared
  const pictures = new ImageStore({ limits, now: () => now, hasOthers: () => true, ...more, shared })
  opened.push(pictures)
  return pictures
}

const keep = (pictures: ImageStore, text: string): Promise<string> => pictures.add('image/png', [Buffer.from(text)])
const isThere = async (pictures: ImageStore, ...tokens: string[]): Promise<boolean[]> =>
  Promise.all(tokens.map(async token => (await pictures.get(token)) !== undefined))

test('a picture is there until its hour is over, and any number of times', async () => {
  const pictures = await open()
  const token = await keep(pictures, 'a boat')
  now += 3_599_000
  const kept = (await pictures.get(token))!
  expect(kept.mediaType).toBe('image/png')
  expect(kept.seconds).toBe(1)
  expect(await read(kept.bytes.read())).toBe('a boat')
  expect(await read(kept.bytes.read())).toBe('a boat')
  now += 1000
  expect(await pictures.get(token)).toBeUndefined()
})

test('tokens are long, and no two alike', async () => {
  const pictures = await open()
  const tokens = await Promise.all(Array.from({ length: 20 }, () => keep(pictures, 'x')))
  expect(new Set(tokens).size).toBe(20)
  for (const token of tokens) expect(Buffer.from(token, 'base64url')).toHaveLength(32)
})

test('what is more than there is room for pushes out the oldest', async () => {
  const few = await open({ count: 2 })
  const [first, second, third] = [await keep(few, 'a'), await keep(few, 'b'), await keep(few, 'c')]
  expect(await isThere(few, first, second, third)).toEqual([false, true, true])
  const small = await open({ size: 10 })
  const [one, two] = [await keep(small, '123456'), await keep(small, '123456')]
  expect(await isThere(small, one, two)).toEqual([false, true])
})

test('whoever reads one that is pushed out reads it to its end', async () => {
  const pictures = await open({ count: 1 })
  const long = 'x'.repeat(2_000_000)
  const kept = (await pictures.get(await keep(pictures, long)))!
  const reading = kept.bytes.read()[Symbol.asyncIterator]()
  let text = String.fromCharCode(...(await reading.next()).value!.subarray(0, 1))
  let size = 262_144
  await keep(pictures, 'another')
  for (let step = await reading.next(); step.done !== true; step = await reading.next()) size += step.value.length
  text += String(size)
  expect(text).toBe(`x${long.length}`)
})

test('nothing of it has a name on the disk', async () => {
  const pictures = await open()
  await keep(pictures, 'a boat')
  expect(readdirSync(tmpdir()).filter(name => /^interlingua-[0-9a-f-]{36}$/.test(name))).toEqual([])
})

test('another instance sends a picture, and after that even one that was pushed out', async () => {
  const { shared } = await stored()
  const [one, two] = [await open({ count: 1 }, { shared }), await open({ count: 1 }, { shared })]
  const text = randomBytes(400_000).toString('hex')
  const token = await keep(one, text)
  now += 5000
  const [kept, again] = await Promise.all([two.get(token), two.get(token)])
  expect(kept).toMatchObject({ mediaType: 'image/png', seconds: 3595, bytes: { size: text.length } })
  expect((await read(kept!.bytes.read())) === text && (await read(again!.bytes.read())) === text).toBe(true)
  await keep(one, 'another')
  expect(await isThere(one, token)).toEqual([false])
  expect(await read(kept!.bytes.read())).toBe(text)
  now += 3_595_000
  expect(await isThere(two, token)).toEqual([false])
})

test('what is no token is not looked up, and a picture that is deleted while it is copied is not there', async () => {
  const { shared } = await stored()
  let looked = 0
  const torn: ImageStoreOptions['shared'] = {
    putImage: shared.putImage,
    async image(id) {
      looked++
      const found = (await shared.image(id))!
      return {
        ...found,
        read: async function* () {
          yield Buffer.from('x')
        },
      }
    },
  }
  const [one, two] = [await open({}, { shared }), await open({}, { shared: torn })]
  for (const token of ['', 'x', '../../etc/passwd', 'x'.repeat(44), `${'x'.repeat(42)}\u0000`])
    expect(await two.get(token)).toBeUndefined()
  expect(looked).toBe(0)
  expect(await two.get(await keep(one, 'a boat'))).toBeUndefined()
  expect(looked).toBe(1)
})

test('one that cannot be stored has no address where others may be asked for it, and its copy serves where none are', async () => {
  const full: ImageStoreOptions['shared'] = {
    putImage: () => Promise.reject(UNAVAILABLE),
    image: () => Promise.reject(UNAVAILABLE),
  }
  await expect(keep(await open({}, { shared: full }), 'a boat')).rejects.toBe(UNAVAILABLE)
  const alone = await open({}, { shared: full, hasOthers: () => false })
  expect(await read((await alone.get(await keep(alone, 'a boat')))!.bytes.read())).toBe('a boat')
  await expect(alone.get('x'.repeat(43))).rejects.toBe(UNAVAILABLE)
})

test('tokens are not stored, and no type but of an image', async () => {
  const { shared } = await stored()
  const seen: string[] = []
  const watched: ImageStoreOptions['shared'] = {
    putImage: (picture, limits) => {
      seen.push(picture.id, picture.mediaType)
      return shared.putImage(picture, limits)
    },
    image: shared.image,
  }
  const pictures = await open({}, { shared: watched })
  const token = await pictures.add('image/png\u0000<x>', [Buffer.from('x')])
  expect(seen).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), 'application/octet-stream'])
  expect(seen[0]).not.toContain(token)
})

test('base64 is decoded piece by piece as in one go', () => {
  const bytes = randomBytes(1_000_001)
  const text = bytes.toString('base64')
  for (const written of [
    text,
    text.replaceAll(/.{76}/g, '$&\r\n'),
    bytes.toString('base64url'),
    `data ${text.slice(0, 9)}`,
  ])
    expect(Buffer.concat([...base64Chunks(written)]).equals(Buffer.from(written, 'base64'))).toBe(true)
  expect([...base64Chunks('')]).toEqual([])
})
