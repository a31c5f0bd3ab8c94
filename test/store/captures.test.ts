import { join } from 'node:path'
import { StatementSync } from 'node:sqlite'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { StoredCapture } from '../../src/store/capture-repository.ts'
import { openSqlite, openStore, type Store } from '../../src/store/store.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'
import { scratch } from '../gateway/stored/test-server.ts'

const data = scratch()
afterAll(() => data.drop())
let count = 0

type Open = (now: () => number) => Promise<Store>

const ENGINES: readonly { readonly name: string; readonly missing?: string | undefined; place(): Promise<Open> }[] = [
  {
    name: 'SQLite',
    async place() {
      const path = join(data.path, `${count++}`, 'x.sqlite')
      return now => openSqlite(path, now)
    },
  },
  {
    name: 'PostgreSQL',
    missing: noPostgres,
    async place() {
      const { url } = await freshDatabase()
      return now => openStore({ engine: 'postgres', url }, now)
    },
  },
]

const captureOf = (id: string, at: number, size = 100): StoredCapture => ({
  ...{ id, at, key: 'k', expiresAt: at + 1000, data: Buffer.alloc(size, id) },
})

for (const { name, missing, place } of ENGINES)
  describe.skipIf(missing !== undefined)(`captures of two instances over ${name}`, () => {
    let now = 0
    let one: Store
    let two: Store
    beforeEach(async () => {
      now = 1000
      const open = await place()
      one = await open(() => now)
      two = await open(() => now)
    })
    afterEach(async () => {
      await one.close()
      await two.close()
    })

    test('that a lower limit leaves no room for are deleted in steps, between which others run', async () => {
      const size = 2 ** 20
      for (let at = 0; at < 24; at++) await one.captures.add([captureOf(`${at}`, at, size)], 1e9)
      let turns = 0
      let turn = setImmediate(function count() {
        turns++
        turn = setImmediate(count)
      })
      await one.captures.add([captureOf('z', 1000, size)], 3 * size)
      clearImmediate(turn)
      expect(turns).toBeGreaterThanOrEqual(4)
      const { found } = await two.captures.list({ since: 0, until: 2000, limit: 100 })
      expect(found.map(({ id }) => id)).toEqual(['z', '23', '22'])
    })

    test('are found by both until they expire', async () => {
      await one.captures.add([captureOf('a', 1000), captureOf('b', 1500)], 1e6)
      expect(Buffer.from((await two.captures.find('a'))!)).toEqual(Buffer.alloc(100, 'a'))
      expect(await two.captures.existing(['a', 'b', 'c'])).toEqual(new Set(['a', 'b']))
      now = 2000
      expect(await two.captures.find('a')).toBeUndefined()
      expect(await two.captures.existing(['a', 'b'])).toEqual(new Set(['b']))
      await two.captures.sweep()
      now = 0
      expect(await one.captures.find('a')).toBeUndefined()
      expect(await one.captures.drop('b')).toBe(true)
      expect(await one.captures.drop('b')).toBe(false)
    })

    test('have no more bytes than there may be: the oldest go', async () => {
      for (let index = 0; index < 20; index++) {
        const store = index % 2 === 0 ? one : two
        await store.captures.add([captureOf(`c${index}`, 1000 + index)], 1000)
      }
      const ids = Array.from({ length: 20 }, (_, index) => `c${index}`)
      expect(await one.captures.existing(ids)).toEqual(new Set(ids.slice(10)))
      await one.captures.add([captureOf('huge', 1100, 5000)], 1000)
      expect(await one.captures.existing([...ids, 'huge'])).toEqual(new Set())
    })

    test('are listed by page, the latest first, of one key or of all', async () => {
      const all = Array.from({ length: 7 }, (_, index) => ({
        ...captureOf(`c${index}`, 1000 + (index >> 1)),
        expiresAt: 1e6,
      }))
      await one.captures.add(all, 1e6)
      await one.captures.add([{ ...captureOf('other', 1001), key: 'another', expiresAt: 1e6 }], 1e6)
      const seen: string[] = []
      let after: string | undefined
      do {
        const page = { since: 1000, until: 2000, limit: 3, key: 'k', ...(after === undefined ? {} : { after }) }
        const { found, more } = await two.captures.list(page)
        for (const { id } of found) seen.push(id)
        after = more ? `${found.at(-1)!.at}.${found.at(-1)!.id}` : undefined
      } while (after !== undefined)
      expect(seen).toEqual(['c6', 'c5', 'c4', 'c3', 'c2', 'c1', 'c0'])
      const { found } = await two.captures.list({ since: 1001, until: 1002, limit: 9 })
      expect(found.map(({ id }) => id)).toEqual(['other', 'c3', 'c2'])
    })

    test('are stored once', async () => {
      await one.captures.add([captureOf('a', 1000)], 1e6)
      await two.captures.add([captureOf('a', 1000)], 1e6)
      expect(await one.captures.existing(['a'])).toEqual(new Set(['a']))
    })
  })

test('captures are counted again only after a hundredth of the limit, because a count reads all of them', async () => {
  const store = await openSqlite(join(data.path, `${count++}`, 'x.sqlite'))
  const limit = 400 * 2 ** 20
  const run = vi.spyOn(StatementSync.prototype, 'all')
  const counts = () =>
    run.mock.contexts.filter(statement => /sum\("size"\)/.test((statement as StatementSync).sourceSQL)).length
  for (let index = 0; index < 50; index++) await store.captures.add([captureOf(`c${index}`, index, 100_000)], limit)
  expect(counts()).toBe(2)
  await store.captures.add([captureOf('other-limit', 60)], limit + 1)
  expect(counts()).toBe(3)
  run.mockRestore()
  await store.close()
})

test('captures beyond a large limit make room for the next hundredth of it', async () => {
  const store = await openSqlite(join(data.path, `${count++}`, 'x.sqlite'), () => 0)
  const size = 5 * 2 ** 20
  for (let index = 0; index < 21; index++) await store.captures.add([captureOf(`c${index}`, index, size)], 1e9)
  // 105 MiB are stored, and a hundredth of the limit is 1 MiB.
  await store.captures.add([captureOf('last', 60)], 21 * size)
  const { found } = await store.captures.list({ since: 0, until: 1000, limit: 100 })
  expect(found.map(({ id }) => id)).toEqual(['last', ...Array.from({ length: 20 }, (_, index) => `c${20 - index}`)])
  await store.captures.add([captureOf('more', 61, 2 ** 20)], 21 * size)
  expect((await store.captures.list({ since: 0, until: 1000, limit: 100 })).found).toHaveLength(22)
  await store.close()
})
