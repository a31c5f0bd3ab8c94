import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ImageRecord, SharedRecords } from '../../src/store/shared-records.ts'
import { openSqlite, openStore, type Store } from '../../src/store/store.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'
import { scratch } from '../gateway/stored/test-server.ts'

const data = scratch()
afterAll(() => data.drop())
let count = 0

/** A store that several instances open. */
interface Place {
  open(now: () => number): Promise<Store>
  drop(): Promise<void>
}

interface Engine {
  readonly name: string
  /** Whether two connections may write at once. In SQLite one of them blocks the whole process. */
  readonly concurrent: boolean
  readonly missing: string | undefined
  place(): Promise<Place>
}

const ENGINES: readonly Engine[] = [
  {
    name: 'SQLite',
    concurrent: false,
    missing: undefined,
    async place() {
      const path = join(data.path, `${count++}`, 'x.sqlite')
      return { open: now => openSqlite(path, now), drop: async () => {} }
    },
  },
  {
    name: 'PostgreSQL',
    concurrent: true,
    missing: noPostgres,
    async place() {
      const { url, drop } = await freshDatabase()
      return { open: now => openStore({ engine: 'postgres', url }, now), drop }
    },
  },
]

const SIZE = 600_000
const ROOMY = { count: 100, size: 1e9 }
const bytesOf = async (picture: ImageRecord | undefined): Promise<Buffer | undefined> =>
  picture === undefined ? undefined : Buffer.concat(await Array.fromAsync(picture.read()))

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

for (const { name, place, concurrent, missing } of ENGINES)
  describe.skipIf(missing !== undefined)(`shared by two instances over ${name}`, () => {
    let now = 0
    let at: Place
    let stores: readonly Store[]
    let one: SharedRecords
    let two: SharedRecords
    /** Returns one of two connections that may write concurrently. */
    let writer: (index: number) => SharedRecords
    beforeEach(async () => {
      now = 1_000_000
      at = await place()
      const clock = () => now
      stores = [await at.open(clock), await at.open(clock)]
      ;[one, two] = stores.map(({ shared }) => shared) as [SharedRecords, SharedRecords]
      writer = index => (concurrent && index % 2 === 1 ? two : one)
    })
    afterEach(async () => {
      for (const store of stores) await store.close()
      await at.drop()
    })

    const keep = (by: SharedRecords, id: string, bytes: Uint8Array, limits = ROOMY, age = 1000) =>
      by.putImage({ id, mediaType: 'image/png', expiresAt: now + age, read: () => cut(bytes, 400_000) }, limits)

    test('a secret is the first one of many', async () => {
      expect(await one.secret('seals')).toBeUndefined()
      const made = await Promise.all(
        Array.from({ length: 20 }, (_, index) => writer(index).createSecret('seals', randomBytes(32))),
      )
      const first = Buffer.from(made[0]!)
      expect(first).toHaveLength(32)
      for (const secret of made) expect(Buffer.from(secret)).toEqual(first)
      expect(Buffer.from((await two.secret('seals'))!)).toEqual(first)
      expect(await two.secret('others')).toBeUndefined()
    })

    test('a picture is read elsewhere as it was written, in rows of limited size', async () => {
      const bytes = randomBytes(SIZE)
      await keep(one, 'a', bytes)
      const found = (await two.image('a'))!
      expect(found).toMatchObject({ mediaType: 'image/png', size: SIZE, expiresAt: now + 1000 })
      const pieces = await Array.fromAsync(found.read())
      expect(Buffer.concat(pieces)).toEqual(bytes)
      expect(Math.max(...pieces.map(piece => piece.length))).toBeLessThanOrEqual(256 * 1024)
      expect(await two.image('b')).toBeUndefined()
      now += 1000
      expect(await one.image('a')).toBeUndefined()
    })

    test('a picture is not found before it is whole, and nothing is left of one that broke off', async () => {
      const broken = async function* (): AsyncGenerator<Uint8Array> {
        yield randomBytes(1000)
        expect(await two.image('a')).toBeUndefined()
        throw new Error('broke off')
      }
      const picture = { id: 'a', mediaType: 'image/png', expiresAt: now + 1000, read: broken }
      await expect(one.putImage(picture, ROOMY)).rejects.toThrow('broke off')
      await keep(two, 'a', Buffer.from('again'))
      expect(String(await bytesOf(await one.image('a')))).toBe('again')
    })

    test('the oldest pictures of all instances are deleted for new ones', async () => {
      const few = { count: 3, size: 1e9 }
      for (let index = 0; index < 6; index++)
        await keep(index % 2 === 0 ? one : two, `${index}`, randomBytes(10), few, 1000 - index)
      const there = async () =>
        Promise.all(['0', '1', '2', '3', '4', '5'].map(async id => (await one.image(id)) !== undefined))
      expect(await there()).toEqual([false, false, false, true, true, true])
      await keep(one, 'large', randomBytes(25), { count: 9, size: 35 })
      expect(await there()).toEqual([false, false, false, false, false, true])
      expect(await two.image('large')).toBeDefined()
      await keep(two, 'larger', randomBytes(36), { count: 9, size: 35 })
      expect(await one.image('larger')).toBeUndefined()
    })

    test('as many pictures are kept as there may be, however many are written at once', async () => {
      const ids = Array.from({ length: 24 }, (_, index) => `${index}`)
      await Promise.all(ids.map((id, index) => keep(writer(index), id, randomBytes(10), { count: 5, size: 1e9 })))
      const found = await Promise.all(ids.map(id => two.image(id)))
      expect(found.filter(picture => picture !== undefined)).toHaveLength(5)
    })

    const note = (name: string, owner = 'me', age = 1000) => ({
      ...{ kind: 'client-secret' as const, name, owner, text: JSON.stringify({ of: `${name}\u0000💥` }) },
      expiresAt: now + age,
    })
    const MANY = { perOwner: 100, total: 100 }

    test('a note is found elsewhere until it expires, and taken by one of many', async () => {
      expect(await one.addNote(note('a'), MANY)).toBe(true)
      expect(await two.note('client-secret', 'a')).toBe(note('a').text)
      const takers = Array.from({ length: 20 }, (_, index) => writer(index).takeNote('client-secret', 'a'))
      expect((await Promise.all(takers)).filter(text => text !== undefined)).toEqual([note('a').text])
      expect(await one.note('client-secret', 'a')).toBeUndefined()
      await one.addNote(note('b'), MANY)
      now += 1000
      expect(await two.note('client-secret', 'b')).toBeUndefined()
      expect(await two.takeNote('client-secret', 'b')).toBeUndefined()
    })

    test('notes are limited by owner and in all, exactly, and those that expired do not count', async () => {
      const limits = { perOwner: 3, total: 5 }
      const keepAll = (owner: string) =>
        Promise.all(
          Array.from({ length: 6 }, (_, index) => writer(index).addNote(note(`${owner}${index}`, owner), limits)),
        )
      expect((await keepAll('me')).filter(Boolean)).toHaveLength(3)
      expect((await keepAll('you')).filter(Boolean)).toHaveLength(2)
      now += 1000
      expect(await one.addNote(note('new'), limits)).toBe(true)
    })

    const thoughts = (id: string, age = 1000) => ({ id, text: `sealed ${id}`, expiresAt: now + age })
    const found = async (...names: string[]) =>
      (await two.reasoning(names)).map(({ text, names }) => ({
        text,
        names: names.map(({ name, step }) => `${name}:${step}`).sort(),
      }))

    test('thoughts are found under every name of their calls, and under no other', async () => {
      await one.changeReasoning([
        { names: [['a', 'at a'], [], ['b']], reasoning: thoughts('1') },
        { names: [['c']], reasoning: thoughts('2') },
      ])
      const whole = { text: 'sealed 1', names: ['a:0', 'at a:0', 'b:2'] }
      expect(await found('at a', 'b', 'x')).toEqual([whole])
      expect(await found('a', 'c')).toHaveLength(2)
      expect(await found('x')).toEqual([])
      expect(await found()).toEqual([])
      now += 1000
      expect(await found('a')).toEqual([])
    })

    test('a name belongs to the last answer that has it, until that is forgotten', async () => {
      await one.changeReasoning([
        { names: [['a'], ['b']], reasoning: thoughts('1') },
        { names: [['b', 'b']], reasoning: thoughts('2') },
      ])
      expect(await found('b')).toEqual([{ text: 'sealed 2', names: ['b:0'] }])
      expect(await found('a')).toEqual([{ text: 'sealed 1', names: ['a:0'] }])
      await two.changeReasoning([{ names: [['a'], ['x']] }])
      expect(await found('a')).toEqual([])
      expect(await found('b')).toHaveLength(1)
    })

    test('more names than one statement takes are found', async () => {
      const names = Array.from({ length: 5000 }, (_, index) => [`n${index}`])
      await one.changeReasoning([{ names, reasoning: thoughts('1') }])
      expect((await found(...names.flat()))[0]!.names).toHaveLength(5000)
    })

    test('what has expired is swept, and nothing else', async () => {
      await keep(one, 'old', randomBytes(SIZE), ROOMY, 10)
      await keep(one, 'new', randomBytes(10), ROOMY, 1000)
      await one.addNote(note('old', 'me', 10), MANY)
      await one.addNote(note('new', 'me', 1000), MANY)
      await one.changeReasoning([
        { names: [['old']], reasoning: thoughts('old', 10) },
        { names: [['new']], reasoning: thoughts('new') },
      ])
      now += 10
      await stores[1]!.sweep()
      now -= 10
      expect(await bytesOf(await one.image('old'))).toBeUndefined()
      expect(await bytesOf(await one.image('new'))).toHaveLength(10)
      expect(await one.note('client-secret', 'old')).toBeUndefined()
      expect(await one.note('client-secret', 'new')).toBeDefined()
      expect(await found('old', 'new')).toHaveLength(1)
    })
  })
