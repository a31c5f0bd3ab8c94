import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { commandLine } from '../../src/commands/command-line.ts'
import type { StoreConfig } from '../../src/config/index.ts'
import { copyStore } from '../../src/store/copy.ts'
import { openStore } from '../../src/store/store.ts'
import type { Turn } from '../../src/store/turns.ts'
import { written } from '../builders/engines.ts'
import { freshDatabase, noPostgres } from '../builders/postgres.ts'

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

async function filled(config: StoreConfig): Promise<void> {
  const store = await openStore(config)
  for (let index = 0; index < 250; index++) await store.turns.keep(turn(`t${index}`))
  await store.events.add('me', 't1', 0, ['one\0', 'two'])
  const conversation = { owner: 'me', id: 'c', metadata: { a: '\0' }, createdAt: 1, expiresAt: FOREVER }
  await store.conversations.create(conversation, [ODD])
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

  test.skipIf(needed)('everything is copied and counted, and the source stays', async () => {
    const told: string[] = []
    const terminal = { out: (text: string) => told.push(text), fault: (text: string) => told.push(text) }
    const line = ['store', 'migrate', '--from', written(from), '--to', written(to)]
    expect([await commandLine(line, terminal), told]).toMatchObject([0, expect.anything()])
    expect(told).toEqual(
      expect.arrayContaining(['turns: 250 rows', 'items: 501 rows', 'events: 1 rows', 'tasks: 0 rows']),
    )
    expect(told.join()).not.toContain('secret-of-the-tests')
    for (const config of [from, to]) {
      const store = await openStore(config)
      expect(await store.turns.find('me', 't249')).toEqual(turn('t249'))
      expect((await store.turns.items('me', ['item_1'])).get('item_1')?.item).toEqual(ODD)
      expect(await store.events.from('me', 't1', 0)).toEqual(['one\0', 'two'])
      expect(await store.conversations.items('me', 'c')).toEqual([ODD])
      await store.close()
    }
  })

  test.skipIf(needed)('a target that holds something is left alone', async () => {
    const store = await openStore(to)
    await store.turns.keep(turn('mine'))
    await store.close()
    await expect(copyStore(from, to)).rejects.toThrow('not empty')
    const after = await openStore(to)
    expect(await after.turns.find('me', 't1')).toBeUndefined()
    expect(await after.turns.find('me', 'mine')).toBeDefined()
    await after.close()
  })

  test.skipIf(needed)('a source that is in use is not copied', async () => {
    const store = await openStore(from)
    await store.turns.find('me', 't1')
    await expect(copyStore(from, to)).rejects.toThrow('stop it first')
    await store.close()
  })
})
