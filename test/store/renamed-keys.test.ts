import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { StoreConfig } from '../../src/config/index.ts'
import { openStore } from '../../src/store/store.ts'
import { requestId } from '../../src/store/usage/request-id.ts'
import type { UsageRow } from '../../src/store/usage/row.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'

/* Bills by key after keys were renamed, and after their former names were given to other keys. */

const closing = closingAfterEach()
const NOON = Date.UTC(2026, 10, 29, 12)
const HOUR = 3_600_000
const DAY = 24 * HOUR

const CONFIGS: readonly (readonly [name: string, config: () => Promise<StoreConfig>])[] = [
  [
    'SQLite',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'renamed-keys-'))
      closing.push(() => rmSync(folder, { recursive: true, force: true }))
      return { engine: 'sqlite', path: join(folder, 'x.sqlite') }
    },
  ],
  [
    'PostgreSQL',
    async () => {
      const database = await freshDatabase()
      closing.push(() => database.drop())
      return { engine: 'postgres', url: database.url }
    },
  ],
]

const rowOf = (key: string, keyName: string, at: number): UsageRow => ({
  ...{ id: requestId(at), at, key, keyName, group: 'g', model: 'm', channel: 'c', door: '/', format: 'chat' },
  ...{ stream: false, attempts: 1, status: 200, losses: 0, additions: 0, duration: 1, cost: 5 },
})

describe.each(CONFIGS.filter(([name]) => name === 'SQLite' || noPostgres === undefined))('%s', (_name, config) => {
  async function open() {
    const store = await openStore(await config(), () => NOON)
    closing.push(() => store.close())
    await store.access.putGroup({ name: 'g', models: [], limits: {}, onLoss: 'show', createdAt: 1 })
    const create = (id: string, name: string) =>
      store.access.createKey({ id, name, group: 'g', limits: {}, enabled: true, createdAt: 1, secrets: [] })
    const names = async (since = 0, more: object = {}) =>
      (await store.usage.sums({ since, until: NOON + HOUR, by: ['key'], limit: 100, ...more })).map(
        ({ by, keyName, cost }) => [by.key, keyName, cost],
      )
    return { store, create, names }
  }

  test('a bill names each stored key as it is called now', async () => {
    const { store, create, names } = await open()
    await create('1', 'zoe')
    await store.usage.add([rowOf('1', 'zoe', NOON - 40 * DAY), rowOf('1', 'zoe', NOON - 2 * HOUR)])
    await store.access.changeKey('1', { name: 'alice' })
    await create('2', 'zoe')
    await store.usage.add([rowOf('2', 'zoe', NOON)])
    const bill = [
      ['1', 'alice', 10],
      ['2', 'zoe', 5],
    ]
    expect([await names(), await names(0, { top: { count: 5, rank: 'cost' } })]).toEqual([bill, bill])
    await store.access.revokeKey('2', NOON)
    expect(await names()).toEqual(bill)
  })

  test.each([{}, { exact: true }])('a bill names a key that is not stored as its latest request did: %o', async how => {
    const { store, names } = await open()
    await store.usage.add([rowOf('1', 'zoe', NOON - 3 * DAY), rowOf('1', 'zoe', NOON - 2 * HOUR)])
    await store.usage.add([rowOf('1', 'alice', NOON)])
    expect(await names(0, how)).toEqual([['1', 'alice', 15]])
    expect(await names(NOON, how)).toEqual([['1', 'alice', 5]])
  })
})
