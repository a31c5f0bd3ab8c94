import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { Client } from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { commandLine } from '../../src/commands/command-line.ts'
import type { StoreConfig } from '../../src/config/index.ts'
import { copyStore } from '../../src/store/copy.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import type { Turn } from '../../src/store/turns.ts'
import { written } from '../builders/engines.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'
import { HOUR } from '../builders/units.ts'
import { traffic } from '../builders/usage.ts'
import { keyOf } from './access-follower.ts'

const FOREVER = 9e15
const folder = mkdtempSync(join(tmpdir(), 'interlingua-copies-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let count = 0
const drops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const drop of drops.splice(0)) await drop()
})

const ENGINES = {
  sqlite: async (): Promise<StoreConfig> => ({ engine: 'sqlite', path: join(folder, `${count++}.sqlite`) }),
  postgres: async (): Promise<StoreConfig> => {
    const database = await freshDatabase()
    drops.push(() => database.drop())
    return { engine: 'postgres', url: database.url }
  },
}

const ODD = { id: 'item_1', text: 'a\0b \ud800 💥', n: 2 ** 53 - 1 }
const turn = (id: string): Turn => ({
  ...{ owner: 'me', id, createdAt: 5, expiresAt: FOREVER, previous: 'before', lease: FOREVER, worker: 'w' },
  input: [ODD],
  response: { id, object: 'response', output: [{ id: `out_${id}`, content: [] }] },
})

/** A name that some databases cannot store unchanged. */
const NAME = 'a\0b 💥'
const [ROW] = traffic(1, { since: 1, until: 2, keys: 1, models: 1, channels: 1 })
const PICTURE = Buffer.alloc(300_000, 0xe9)
const NO_LIMITS = { count: 9, size: 2 ** 30, perOwner: 9, total: 9 }

/** Stores keys, groups, tokens, usage and shared state under the same odd names. */
async function fillOthers({ access, usage, shared }: Store): Promise<void> {
  await access.createKey({ ...keyOf('k'), name: NAME, group: NAME, note: `${NAME}\ud800`, models: [NAME] })
  await access.putGroup({ name: NAME, models: [NAME], onLoss: 'show', limits: {}, createdAt: 1 })
  await access.drain(NAME, true)
  await access.addToken({ ...keyOf('t').secrets[0]!, id: 't', name: NAME, hash: 'of t' })
  await usage.add([{ ...ROW!, model: NAME, keyName: NAME, upstreamModel: `${NAME}\ud800`, channel: NAME }])
  const read = async function* () {
    for (let at = 0; at < PICTURE.length; at += 2 ** 18) yield PICTURE.subarray(at, at + 2 ** 18)
  }
  await shared.putImage({ id: 'p', mediaType: 'image/png', expiresAt: FOREVER, read }, NO_LIMITS)
  await shared.createSecret('s', Buffer.from([0, 255]))
  await shared.addNote(
    { kind: 'client-secret', name: 'n', owner: NAME, text: NAME, expiresAt: Date.now() + HOUR },
    NO_LIMITS,
  )
  const thoughts = { id: 'th', text: NAME, expiresAt: FOREVER }
  await shared.changeReasoning([{ names: [['n']], reasoning: thoughts }])
}

/** Reads the same data back. Text is compared as the engine stored it. */
async function othersIn({ access, usage, shared }: Store) {
  const picture = await shared.image('p')
  const { rows } = await usage.rows({ since: 0, until: 10, limit: 5 })
  const bytes = Buffer.concat(await Array.fromAsync(picture!.read()))
  expect(bytes.equals(PICTURE)).toBe(true)
  const [thoughts] = await shared.reasoning(['n'])
  const found = {
    ...{ key: await access.key('k'), groups: await access.groups(), token: await access.token('of t') },
    ...{ drained: (await access.changes(0)).drained, rows, thoughts },
    sums: await usage.sums({ since: 0, until: 3_600_000, by: ['model'], percentiles: true, limit: 5 }),
    ...{ secret: await shared.secret('s'), note: await shared.note('client-secret', 'n') },
  }
  return JSON.parse(JSON.stringify(found).replaceAll('\\u0000', '\ufffd').replaceAll('\\ud800', '\ufffd'))
}

async function filled(config: StoreConfig): Promise<void> {
  const store = await openStore(config)
  for (let index = 0; index < 250; index++) await store.turns.put(turn(`t${index}`))
  await store.events.add('me', 't1', { first: 0, texts: ['one\0', 'two'] })
  const conversation = { owner: 'me', id: 'c', metadata: { a: '\0' }, createdAt: 1, expiresAt: FOREVER }
  await store.conversations.create(conversation, [ODD])
  await fillOthers(store)
  await store.close()
}

describe.each([
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
  ['sqlite', 'sqlite'],
] as const)('from %s to %s', (source, target) => {
  let from: StoreConfig
  let to: StoreConfig
  const needed = source === 'postgres' || target === 'postgres' ? noPostgres : undefined
  beforeEach(async () => {
    if (needed !== undefined) return
    from = await ENGINES[source]()
    to = await ENGINES[target]()
    await filled(from)
  })

  test.skipIf(needed)('everything is copied and counted, and the source is unchanged', async () => {
    const told: string[] = []
    const terminal = { out: (text: string) => told.push(text), fault: (text: string) => told.push(text) }
    const line = ['store', 'migrate', '--from', written(from), '--to', written(to)]
    expect([await commandLine(line, terminal), told]).toMatchObject([0, expect.anything()])
    expect(told).toEqual(
      expect.arrayContaining(['turns: 250 rows', 'items: 501 rows', 'events: 1 rows', 'tasks: 0 rows']),
    )
    expect(told.join()).not.toContain('secret-of-the-tests')
    const others: unknown[] = []
    for (const config of [from, to]) {
      const store = await openStore(config)
      others.push(await othersIn(store))
      expect(await store.turns.find('me', 't249')).toEqual(turn('t249'))
      expect((await store.turns.items('me', ['item_1'])).get('item_1')?.item).toEqual(ODD)
      expect(await store.events.from('me', 't1', 0)).toEqual(['one\0', 'two'])
      expect(await store.conversations.items('me', 'c')).toEqual([ODD])
      await store.close()
    }
    expect(others[1]).toEqual(others[0])
    expect(others[1]).toMatchObject({ key: { id: 'k' }, rows: [{ status: ROW!.status }], secret: { data: [0, 255] } })
  })

  test.skipIf(needed)('a target that is not empty is not changed', async () => {
    const store = await openStore(to)
    await store.turns.put(turn('mine'))
    await store.close()
    await expect(copyStore(from, to)).rejects.toThrow('not empty')
    const after = await openStore(to)
    expect(await after.turns.find('me', 't1')).toBeUndefined()
    expect(await after.turns.find('me', 'mine')).toBeDefined()
    await after.close()
  })

  test.skipIf(needed)('a store is not copied onto itself, whatever its address looks like', async () => {
    const same: StoreConfig =
      from.engine === 'sqlite'
        ? { engine: 'sqlite', path: join(dirname(from.path), '.', 'x', '..', basename(from.path)) }
        : { engine: 'postgres', url: `${from.url}?application_name=other` }
    if (same.engine === 'sqlite') symlinkSync(basename(same.path), `${same.path}.link`)
    const linked: StoreConfig = same.engine === 'sqlite' ? { engine: 'sqlite', path: `${same.path}.link` } : same
    for (const target of [from, same, linked])
      await expect(copyStore(from, target)).rejects.toThrow('are the same store')
  })

  test.skipIf(needed)('a source that is in use is not copied', async () => {
    const store = await openStore(from)
    await store.turns.find('me', 't1')
    await expect(copyStore(from, to)).rejects.toThrow('stop it first')
    await store.close()
  })
})

/** The config of a server that does not exist: these copies are refused without connecting. */
const postgresAt = (rest: string): StoreConfig => ({ engine: 'postgres', url: `postgres://u@${rest}` })

test.each([
  ['127.0.0.1:5432/db', '127.0.0.1/db'],
  ['LocalHost/db', 'localhost:5432/db'],
  ['127.0.0.1/db?options=-csearch_path%3Da', '127.0.0.1/db?application_name=x&options=-csearch_path=a'],
])('%s and %s are one store', async (from, to) => {
  await expect(copyStore(postgresAt(from), postgresAt(to))).rejects.toThrow('are the same store')
})

test.skipIf(noPostgres)('one schema of a database is copied to another', async () => {
  const from = (await ENGINES.postgres()) as Extract<StoreConfig, { engine: 'postgres' }>
  await filled(from)
  const client = new Client(from.url)
  await client.connect()
  await client.query('create schema other')
  await client.end()
  const to: StoreConfig = { ...from, url: `${from.url}?options=-csearch_path%3Dother` }
  expect(await copyStore(from, to)).toContainEqual({ table: 'turns', rows: 250 })
})
