import { mkdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseExactly } from '../../src/canonical/exact-numbers.ts'
import type { JsonObject } from '../../src/canonical/node.ts'
import { MemoryTurns } from '../../src/store/memory.ts'
import { openStore, type Store } from '../../src/store/store.ts'
import type { Turn, Turns } from '../../src/store/turns.ts'
import { inDatabase, ON_FILES, storeAt } from '../builders/engines.ts'
import { HOUR } from '../builders/units.ts'
import { Speaker, StoringGateway, scratch } from '../gateway/stored/test-server.ts'

const turn = (id: string, more: Partial<Turn> = {}): Turn => ({
  ...{ owner: 'me', id, createdAt: 0, expiresAt: HOUR },
  input: [{ id: `in_${id}`, type: 'message', role: 'user', content: id }],
  response: { id, object: 'response', output: [{ id: `out_${id}`, type: 'message', content: [] }] },
  ...more,
})

const data = scratch()
let count = 0
let now = 0
let store: Store
let folder: string
let path: string
beforeEach(async () => {
  now = 0
  folder = join(data.path, `${count++}`)
  path = join(folder, 'interlingua.sqlite')
  store = await openStore(storeAt(folder), () => now)
})
afterEach(() => store.close())
afterAll(() => data.drop())

describe.each([
  { name: 'a database', open: () => store.turns },
  { name: 'a connection', open: () => new MemoryTurns(64, 1e9) },
])('turns of $name', ({ open }) => {
  let turns: Turns
  beforeEach(() => (turns = open()))

  test('are found by their owner, as they were kept', async () => {
    const odd = JSON.parse('{"id":"a","__proto__":{"x":1},"output":[{"id":"o","constructor":"\\u0000💥"}],"n":null}')
    const kept = turn('a', {
      response: odd,
      previous: 'b',
      channel: 'c',
      remembered: true,
      copy: 'd',
      lease: 5,
      worker: 'w',
    })
    await turns.put(kept)
    expect(JSON.stringify(await turns.find('me', 'a'), sorted)).toBe(JSON.stringify(kept, sorted))
    expect(await turns.find('you', 'a')).toBeUndefined()
    await turns.put(turn('a'))
    expect(await turns.find('me', 'a')).toEqual(turn('a'))
  })

  test('keep every digit of large integers in the arguments of calls', async () => {
    const item = '{"type":"function_call","arguments":{"id":1187654321098765432}}'
    const { step } = parseExactly(`{"step":${item}}`) as unknown as { step: JsonObject }
    await turns.put(turn('a', { input: [step], response: { id: 'a', object: 'interaction', steps: [step] } }))
    expect(JSON.stringify((await turns.chain('me', 'a'))!.links[0]!.items)).toBe(`[${item},${item}]`)
    expect(JSON.stringify((await turns.find('me', 'a'))!.input)).toBe(`[${item}]`)
  })

  test('are kept together as they are alone', async () => {
    const large = 'x'.repeat(600_000)
    const kept = Array.from({ length: 60 }, (_, at) =>
      turn(`t${at}`, { owner: at % 3 === 0 ? 'you' : 'me', ...(at % 20 === 7 ? { copy: large } : {}) }),
    )
    await Promise.all([...kept, turn('t1', { channel: 'c' })].map(one => turns.put(one)))
    for (const one of kept.filter(({ id }) => id !== 't1')) expect(await turns.find(one.owner, one.id)).toEqual(one)
    expect(await turns.find('me', 't1')).toEqual(turn('t1', { channel: 'c' }))
  })

  test('are chained, oldest first', async () => {
    await turns.put(turn('a', { previous: 'elsewhere' }))
    await turns.put(turn('b', { previous: 'a', channel: 'c' }))
    const chain = (await turns.chain('me', 'b'))!
    expect(chain.before).toBe('elsewhere')
    expect(chain.links.map(({ items }) => items.map(({ id }) => id))).toEqual([
      ['in_a', 'out_a'],
      ['in_b', 'out_b'],
    ])
    expect(chain.links[1]!.channel).toBe('c')
    expect(await turns.chain('you', 'b')).toBeUndefined()
  })

  test('that go in a circle end', async () => {
    await turns.put(turn('a', { previous: 'a' }))
    expect((await turns.chain('me', 'a'))!.links.length).toBe(1)
  })

  test('tell their items', async () => {
    await turns.put(turn('a', { channel: 'c', remembered: true }))
    await turns.put(turn('b', { input: [{ id: 'out_a', said: 'again' }] }))
    const found = await turns.items('me', ['in_a', 'out_a', 'unknown'])
    expect([...found.keys()].sort()).toEqual(['in_a', 'out_a'])
    expect(found.get('in_a')).not.toHaveProperty('channel')
    expect((await turns.items('you', ['in_a'])).size).toBe(0)
  })

  test("find the model's item, although later turns repeat its id", async () => {
    await turns.put(turn('a', { channel: 'c', remembered: true }))
    const [own] = (turn('a').response as { readonly output: readonly object[] }).output
    await turns.put(turn('b', { input: [{ id: 'out_a', said: 'again' }] }))
    expect((await turns.items('me', ['out_a'])).get('out_a')).toEqual({ item: own, channel: 'c', remembered: true })
  })

  test('find items by ids of any characters', async () => {
    await turns.put(turn('a', { input: [{ id: 'a\0b', said: 'x' }] }))
    expect((await turns.items('me', ['a\0b'])).get('a\0b')?.item).toEqual({ id: 'a\0b', said: 'x' })
    expect(await turns.isForbidden('you', ['z\0'])).toBe(false)
  })

  test('are forgotten', async () => {
    await turns.put(turn('a'))
    expect(await turns.drop('you', 'a')).toBe(false)
    expect(await turns.drop('me', 'a')).toBe(true)
    expect(await turns.drop('me', 'a')).toBe(false)
    expect(await turns.find('me', 'a')).toBeUndefined()
    expect((await turns.items('me', ['in_a'])).size).toBe(0)
  })

  test('that are worked on are brought forward, until they have ended or are forgotten', async () => {
    const worked = turn('a', { lease: 5, worker: 'w', response: { id: 'a', status: 'queued', output: [] } })
    expect(await turns.advance(worked)).toBe(false)
    expect(await turns.find('me', 'a')).toBeUndefined()
    await turns.put(worked)
    await turns.put(turn('b'))
    expect(await turns.unfinished(['a', 'b', 'c'])).toEqual(new Set(['a']))
    const ended = turn('a')
    expect(await turns.advance({ ...ended, lease: 9 })).toBe(true)
    expect(await turns.find('me', 'a')).toEqual({ ...ended, lease: 9 })
    expect(await turns.advance({ ...ended, owner: 'you' })).toBe(false)
    expect(await turns.advance(ended)).toBe(true)
    expect(await turns.advance(worked)).toBe(false)
    expect(await turns.find('me', 'a')).toEqual(ended)
    await turns.put(worked)
    await turns.drop('me', 'a')
    expect(await turns.advance(ended)).toBe(false)
    expect(await turns.find('me', 'a')).toBeUndefined()
  })

  test('keep a lease while they are worked on', async () => {
    await turns.put(turn('a', { lease: 5 }))
    expect(await turns.renew('me', 'a', 9)).toBe(true)
    expect((await turns.find('me', 'a'))!.lease).toBe(9)
    await turns.put(turn('a'))
    expect(await turns.renew('me', 'a', 9)).toBe(false)
  })
})

const sorted = (_: string, value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

describe('events', () => {
  test('are added while their response is worked on, told from any number, and forgotten with it', async () => {
    const { turns, events } = store
    expect(await events.add('me', 'a', { first: 0, texts: ['zero'] })).toBe(false)
    await turns.put(turn('a', { lease: 5 }))
    expect(await events.count('me', 'a')).toBe(0)
    expect(await events.add('me', 'a', { first: 0, texts: ['zero', 'one'] })).toBe(true)
    expect(await events.add('me', 'a', { first: 2, texts: ['two'] })).toBe(true)
    expect(await events.add('you', 'a', { first: 3, texts: ['three'] })).toBe(false)
    expect(await events.from('me', 'a', 0)).toEqual(['zero', 'one'])
    expect(await events.from('me', 'a', 1)).toEqual(['one'])
    expect(await events.from('me', 'a', 2)).toEqual(['two'])
    expect(await events.from('me', 'a', 3)).toEqual([])
    expect(await events.from('you', 'a', 0)).toEqual([])
    expect(await events.count('me', 'a')).toBe(3)
    await turns.advance(turn('a'))
    expect(await events.add('me', 'a', { first: 3, texts: ['three'] })).toBe(false)
    expect(await events.count('me', 'a')).toBe(3)
    await turns.drop('me', 'a')
    expect(await events.count('me', 'a')).toBe(0)
  })

  test('are stored with their response in one write, and none with one that has ended', async () => {
    const { turns, events } = store
    await turns.put(turn('a', { lease: 5 }), { first: 0, texts: ['zero'] })
    expect(await events.from('me', 'a', 0)).toEqual(['zero'])
    const writes = [
      turns.advance(turn('a', { lease: 9 }), { first: 1, texts: ['one'] }),
      events.add('me', 'a', { first: 2, texts: ['two'] }),
      turns.advance(turn('a'), { first: 3, texts: ['three'] }),
      turns.advance(turn('a', { lease: 9 }), { first: 4, texts: ['four'] }),
      turns.advance(turn('b'), { first: 0, texts: ['none'] }),
    ]
    expect(await Promise.all(writes)).toEqual([true, true, true, false, false])
    expect(await events.from('me', 'a', 3)).toEqual(['three'])
    expect(await events.count('me', 'a')).toBe(4)
    expect(await events.count('me', 'b')).toBe(0)
    expect((await turns.find('me', 'a'))!.lease).toBeUndefined()
  })

  test('that are stored again replace those of the same number', async () => {
    const { turns, events } = store
    await turns.put(turn('a', { lease: 5 }), { first: 0, texts: ['zero'] })
    expect(await events.add('me', 'a', { first: 0, texts: ['zero', 'one'] })).toBe(true)
    expect(await events.from('me', 'a', 0)).toEqual(['zero', 'one'])
    expect(await events.count('me', 'a')).toBe(2)
  })

  test('of what has expired are swept', async () => {
    await store.turns.put(turn('a', { lease: 5 }))
    await store.events.add('me', 'a', { first: 0, texts: ['zero'] })
    now = 2 * HOUR
    await store.sweep()
    expect(await store.events.count('me', 'a')).toBe(0)
  })
})

describe('a database', () => {
  test.runIf(ON_FILES)('in a file is its owner’s alone', () => {
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('stays when it is opened again', async () => {
    await store.turns.put(turn('a'))
    const other = await openStore(storeAt(folder), () => now)
    await other.turns.put(turn('b', { previous: 'a' }))
    expect((await store.turns.chain('me', 'b'))!.links.length).toBe(2)
    await other.close()
  })

  test('keeps what waits when it is closed', async () => {
    const kept = Array.from({ length: 120 }, (_, at) => `t${at}`)
    const waiting = Promise.all(kept.map(id => store.turns.put(turn(id))))
    await store.close()
    await waiting
    store = await openStore(storeAt(folder), () => now)
    for (const id of kept) expect(await store.turns.find('me', id)).toEqual(turn(id))
  })

  test('what another owner has, or what is forgotten, is barred', async () => {
    await store.turns.put(turn('a'))
    expect(await store.turns.isForbidden('me', ['a', 'in_a', 'unknown'])).toBe(false)
    expect(await store.turns.isForbidden('you', ['a'])).toBe(true)
    expect(await store.turns.isForbidden('you', ['unknown', 'out_a'])).toBe(true)
    await store.turns.drop('me', 'a')
    expect(await store.turns.isForbidden('me', ['a'])).toBe(true)
  })

  test('what has expired is gone, but for what something alive builds on', async () => {
    await store.turns.put(turn('a'))
    await store.turns.put(turn('b', { previous: 'a' }))
    await store.turns.put(turn('c', { previous: 'b', expiresAt: 2 * HOUR }))
    await store.turns.put(turn('d', { previous: 'b' }))
    now = HOUR
    await store.sweep()
    expect(await store.turns.find('me', 'b')).toBeUndefined()
    expect((await store.turns.chain('me', 'c'))!.links.length).toBe(3)
    expect((await store.turns.items('me', ['in_d'])).size).toBe(0)
    now = 2 * HOUR
    await store.sweep()
    expect((await store.turns.items('me', ['in_a', 'in_b', 'in_c'])).size).toBe(0)
    expect(await store.turns.isForbidden('you', ['a', 'b', 'c', 'd'])).toBe(false)
  })

  test('holds a thousand turns of one talk, each with what is its own', async () => {
    for (let index = 0; index < 1000; index++)
      await store.turns.put(turn(`t${index}`, index === 0 ? {} : { previous: `t${index - 1}` }))
    const { links } = (await store.turns.chain('me', 't999'))!
    expect(links.map(({ items }) => items[0]!['id'])).toEqual(
      Array.from({ length: 1000 }, (_, index) => `in_t${index}`),
    )
    if (ON_FILES) expect(statSync(`${path}-wal`).size + statSync(path).size).toBeLessThan(20 * 2 ** 20)
  })

  test('takes writers of several processes at once', async () => {
    const writers = ['a', 'b'].map(
      name => new Worker(WRITER, { eval: true, workerData: { config: storeAt(folder), name, count: 100 } }),
    )
    await Promise.all(writers.map(writer => new Promise((done, fail) => writer.on('exit', done).on('error', fail))))
    for (const name of ['a', 'b'])
      for (let index = 0; index < 100; index++) expect(await store.turns.find('me', `${name}${index}`)).toBeDefined()
  })
})

/** A program that stores turns over a connection of its own. */
const WRITER = `
  const { workerData: { config, name, count } } = require('node:worker_threads')
  import(${JSON.stringify(join(process.cwd(), 'src/store/store.ts'))}).then(async ({ openStore }) => {
    const { turns, close } = await openStore(config)
    for (let index = 0; index < count; index++) {
      const id = name + index
      const response = { id, output: [{ id: 'out_' + id }] }
      await turns.put({ owner: 'me', id, response, input: [{ id: 'in_' + id }], createdAt: 0, expiresAt: 3600000 })
    }
    await close()
  })`

test.runIf(ON_FILES)('a link to a file that is not there yet has it made, for its owner alone', async () => {
  const target = join(folder, 'target.sqlite')
  const link = join(folder, 'link.sqlite')
  symlinkSync(target, link)
  await (await openStore({ engine: 'sqlite', path: link })).close()
  expect(statSync(target).mode & 0o777).toBe(0o600)
})

describe('a gateway', () => {
  test('that is started again knows what it knew', async () => {
    const place = scratch()
    const first = await StoringGateway.open([await Speaker.open('chat')], { dataDir: place.path })
    const made = await first.client().responses.create({ model: 'm', input: 'Hi!' })
    await first.close()
    const speaker = await Speaker.open('chat')
    const second = await StoringGateway.open([speaker], { dataDir: place.path })
    await second.client().responses.create({ model: 'm', input: 'Go on.', previous_response_id: made.id })
    expect(speaker.heard().turns.map(({ text }) => text)).toEqual(['Hi!', 'Well.', 'Go on.'])
    await second.close()
    place.drop()
  })

  test.runIf(ON_FILES)('whose store cannot be opened answers all the same', async () => {
    const place = scratch()
    mkdirSync(join(place.path, 'interlingua.sqlite'))
    const testServer = await StoringGateway.open([await Speaker.open('chat')], { dataDir: place.path })
    const made = await testServer.client().responses.create({ model: 'm', input: 'Hi!' })
    expect(made.output_text).toBe('Well.')
    expect(testServer.faults.length).toBeGreaterThan(0)
    await expect(testServer.client().responses.retrieve(made.id)).rejects.toMatchObject({ status: 503 })
    await testServer.close()
    place.drop()
  })

  test('whose store breaks later answers all the same', async () => {
    const place = scratch()
    const testServer = await StoringGateway.open([await Speaker.open('chat')], { dataDir: place.path })
    await testServer.client().responses.create({ model: 'm', input: 'Hi!' })
    await inDatabase(place.path, 'drop table items')
    const made = await testServer.client().responses.create({ model: 'm', input: 'Hi!' })
    expect(made.output_text).toBe('Well.')
    expect(testServer.faults.length).toBe(1)
    await expect(testServer.client().responses.retrieve(made.id)).rejects.toMatchObject({ status: 503 })
    await testServer.close()
    place.drop()
  })

  test('that keeps nothing touches no file', async () => {
    const place = scratch()
    const testServer = await StoringGateway.open([await Speaker.open('chat')], {
      dataDir: join(place.path, 'none'),
      responses: { retention: 0, background: 1 },
    })
    const made = await testServer.client().responses.create({ model: 'm', input: 'Hi!' })
    expect(made).toMatchObject({ store: false })
    await expect(testServer.client().responses.retrieve(made.id)).rejects.toMatchObject({ status: 404 })
    expect(() => statSync(join(place.path, 'none'))).toThrow()
    await testServer.close()
    place.drop()
  })
})
