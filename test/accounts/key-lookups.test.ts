import { describe, expect, test } from 'vitest'
import { Access } from '../../src/accounts/index.ts'
import { KeyLookups } from '../../src/accounts/key-lookups.ts'
import { newKey } from '../../src/commands/keys.ts'
import { LazyStore } from '../../src/store/lazy-store.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { configOf } from '../builders/config.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'
import { pause } from '../builders/time.ts'
import { scratch } from '../gateway/stored/test-server.ts'

const HERE = '203.0.113.7'
const SILENT = { info() {}, warn() {}, error() {} }

/** Lookups with a controlled clock, and the number of store reads. */
function lookups(most?: { address: number; all: number }) {
  const state = { now: 0, reads: 0 }
  const refresh = async () => void state.reads++
  return { state, lookups: new KeyLookups({ refresh, now: () => state.now, ...(most && { limits: most }) }) }
}

test('a wrong key is looked up once a minute', async () => {
  const { state, lookups: one } = lookups()
  for (let asked = 0; asked < 10; asked++) {
    await one.lookUp('a', HERE)
    one.rememberWrong('a')
  }
  expect(state.reads).toBe(1)
  state.now += 60_001
  await one.lookUp('a', HERE)
  expect(state.reads).toBe(2)
})

test('wrong keys of an address, of an IPv6 network, and of all have a rate', async () => {
  const { state, lookups: one } = lookups({ address: 5, all: 12 })
  for (let key = 0; key < 50; key++) await one.lookUp(`a${key}`, HERE)
  expect(state.reads).toBe(5)
  for (let key = 0; key < 50; key++) await one.lookUp(`b${key}`, `2001:db8::${key.toString(16)}`)
  expect(state.reads).toBe(10)
  for (let key = 0; key < 50; key++) await one.lookUp(`c${key}`, `198.51.100.${key}`)
  expect(state.reads).toBe(12)
  state.now += 30_000
  for (let key = 0; key < 50; key++) await one.lookUp(`d${key}`, `198.51.100.${key}`)
  expect(state.reads).toBe(18)
})

test('a store that does not answer holds no refusal back for long', async () => {
  const one = new KeyLookups({ refresh: () => new Promise(() => {}) })
  const began = performance.now()
  await one.lookUp('a', HERE)
  expect(performance.now() - began).toBeLessThan(4000)
})

const ENGINES = [
  { name: 'SQLite', missing: undefined, open: async () => undefined },
  { name: 'PostgreSQL', missing: noPostgres, open: freshDatabase },
]

for (const { name, missing, open } of ENGINES)
  describe.skipIf(missing !== undefined)(`processes of one store in ${name}`, () => {
    const closing = closingAfterEach()

    /**
     * Processes that learn of changes only by reading the store, and a function that creates a key as the command line
     * does.
     */
    async function processes() {
      const { path, drop } = scratch()
      closing.push(drop)
      const database = await open()
      if (database !== undefined) closing.push(() => database.drop())
      const store =
        database === undefined
          ? { engine: 'sqlite' as const, path: `${path}/store.sqlite` }
          : { engine: 'postgres' as const, url: database.url }
      const config = { ...configOf([]), store, dataDir: path }
      const opened = () => {
        const one = new LazyStore(store, path, SILENT)
        closing.push(() => one.close())
        return one
      }
      const { access: records } = opened()
      const followers = [opened(), opened()].map(one => {
        const state = { reads: 0 }
        const changes = (since: number) => {
          state.reads++
          return one.access.changes(since)
        }
        const access = new Access(config, { records: { ...one.access, changes } })
        closing.push(() => access.close())
        return { access, state }
      })
      for (const { access } of followers) await access.open()
      const create = async (keyName: string) => {
        const { text, stored } = newKey(keyName, 'default', { limits: {}, enabled: true })
        expect(await records.createKey(stored)).toBe(true)
        return { text, id: stored.id }
      }
      return { followers, create }
    }

    const find = async (access: Access, key: string, from = HERE) =>
      access.find({ headers: { authorization: `Bearer ${key}` } }, () => from)

    test('accept a new key as soon as it was created', async () => {
      const { followers, create } = await processes()
      for (let round = 0; round < 5; round++) {
        const { text, id } = await create(`key-${round}`)
        for (const { access } of followers) expect((await find(access, text)).id).toBe(id)
      }
      const { id } = await create('named')
      for (const { access } of followers) expect((await access.ownerOf(id)).key).toBe('named')
    })

    test('read once for all who come with a new key at once, and little for wrong ones', async () => {
      const { followers, create } = await processes()
      const [{ access, state }] = followers as [(typeof followers)[0]]
      const { text } = await create('one')
      const before = state.reads
      await Promise.all(Array.from({ length: 50 }, () => find(access, text)))
      expect(state.reads - before).toBeLessThanOrEqual(3)
      const guesses = Array.from({ length: 500 }, (_, at) => find(access, `il-wrong-${at}`))
      const refused = await Promise.allSettled(guesses)
      expect(refused.every(one => one.status === 'rejected' && access.isWrongKey(one.reason))).toBe(true)
      expect(state.reads - before).toBeLessThanOrEqual(6)
      await pause(20)
      // The lookups of a guesser leave those of other callers untouched.
      const { text: next, id } = await create('two')
      expect((await find(access, next, '198.51.100.1')).id).toBe(id)
    })
  })
