import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import type { GatewaySecret } from '../../src/gateway/gateway-secret.ts'
import { OwnerReasoning } from '../../src/gateway/thoughts/reasoning-memory.ts'
import { SharedReasoning } from '../../src/gateway/thoughts/shared-reasoning.ts'
import type { AnswerReasoning } from '../../src/gateway/thoughts/types.ts'
import { ALONE, LIMITS, OTHER_KEY, SOCKETS } from '../builders/config.ts'
import { inDatabase, ON_FILES, openStoreAt, storeAt } from '../builders/engines.ts'
import { opener } from '../builders/opener.ts'
import { TIMED } from '../builders/time.ts'
import { scratch } from '../gateway/stored/test-server.ts'
import { ASKED, CALL, history, Remembering, THINKS, Thinker } from './test-server.ts'

/* Instances that share a store restore reasoning that another instance remembers. */

const { closing } = opener()

const SERVER = {
  ...{ host: '127.0.0.1', port: 0, ...ALONE, heartbeat: 15_000, earlyHead: true, drain: 0, grace: 2000 },
  ...{ limits: { ...LIMITS, body: 2 ** 25 }, sockets: SOCKETS },
}

async function pair({ keep = 3_600_000, workers = 2 } = {}) {
  const place = scratch()
  closing.push(place.drop)
  const thinker = await Thinker.open('messages')
  const store = storeAt(place.path)
  const open = async () => {
    const config = { store, server: { ...SERVER, workers }, reasoningMemory: { retention: keep, memory: 2 ** 20 } }
    const one = await Remembering.open([thinker], [thinker.channel()], { keep: place.path, config })
    closing.push(() => one.testServer.server.close(0))
    return one
  }
  closing.push(() => thinker.upstream.close())
  return { thinker, one: await open(), two: await open(), folder: place.path }
}

/** The stored reasoning, as bytes. */
async function keptIn(folder: string): Promise<Buffer> {
  if (!ON_FILES) {
    const rows = await Promise.all(['thoughts', 'thought_names'].map(one => inDatabase(folder, `select * from ${one}`)))
    expect(rows.every(({ length }) => length > 0)).toBe(true)
    return Buffer.from(JSON.stringify(rows))
  }
  const path = join(folder, 'interlingua.sqlite')
  return Buffer.concat([path, `${path}-wal`].map(file => readFileSync(file)))
}

test.each([true, false])('a thought that one collected is put back by the other (stream: %s)', async stream => {
  const { thinker, one, two, folder } = await pair()
  thinker.scenes = [THINKS]
  expect((await one.chat([ASKED], { stream })).status).toBe(200)
  await expect.poll(() => inDatabase(folder, 'select * from thought_names')).not.toEqual([])
  expect((await two.chat(history(CALL), { stream })).status).toBe(200)
  const [proof] = thinker.proofs
  expect(proof).toBeDefined()
  // The first instance restores the same from memory.
  await one.chat(history(CALL))
  expect(thinker.proofs).toEqual([proof])
  // Another caller gets none of it from any instance.
  await two.chat(history(CALL), { key: OTHER_KEY })
  expect(thinker.proofs).toEqual([])
  const kept = await keptIn(folder)
  expect(kept.length).toBeGreaterThan(0)
  for (const text of ['The clock knows', CALL.id, proof!]) expect(kept.includes(text), text).toBe(false)
})

test('nothing is stored where nothing is remembered, or by a gateway that is alone with its file', async () => {
  for (const how of [{ keep: 0 }, ...(ON_FILES ? [{ workers: 1 }] : [])]) {
    const { thinker, one, two } = await pair(how)
    thinker.scenes = [THINKS]
    await one.chat([ASKED])
    await sleep(50)
    await two.chat(history(CALL))
    expect(thinker.proofs).toEqual([])
  }
})

const SECRET = { load: async () => Buffer.alloc(32, 7) } as GatewaySecret
const THOUGHTS: AnswerReasoning = {
  format: 'messages',
  issuer: 'me',
  steps: [{ lead: [], next: [{ type: 'reasoning', text: '\u0000💥' }] }],
}

async function sharing(more: Partial<ConstructorParameters<typeof SharedReasoning>[0]> = {}) {
  let now = 1000
  const place = scratch()
  closing.push(place.drop)
  const store = await openStoreAt(place.path, () => now)
  closing.push(() => store.close())
  const records = { changeReasoning: vi.fn(store.shared.changeReasoning), reasoning: vi.fn(store.shared.reasoning) }
  const faults: unknown[] = []
  const open = () =>
    new SharedReasoning({ records, secret: SECRET, onFault: thrown => faults.push(thrown), now: () => now, ...more })
  return { records, faults, open, wait: (ms: number) => void (now += ms) }
}

test('thoughts come back as they were, until they expire', async () => {
  const { open, wait } = await sharing()
  const [one, two] = [open(), open()]
  one.save('o', [['id a', 'at a']], THOUGHTS, 1000)
  await one.journal.idle()
  expect(await two.find('o', ['id a'])).toEqual([{ keys: [['id a', 'at a']], thoughts: THOUGHTS }])
  expect(await two.find('p', ['id a'])).toEqual([])
  one.forget('o', [['at a']])
  await one.journal.idle()
  expect(await two.find('o', ['id a'])).toEqual([{ keys: [['id a']], thoughts: THOUGHTS }])
  wait(1000)
  expect(await two.find('o', ['id a'])).toEqual([])
})

test('what is not there is not looked up again for a while, and what was made here without thoughts never', async () => {
  const { open, wait } = await sharing()
  const one = open()
  expect(one.mayHave('o', 'id a')).toBe(true)
  await one.find('o', ['id a'])
  one.forget('o', [['id b']])
  expect(['id a', 'id b', 'id c'].map(key => one.mayHave('o', key))).toEqual([false, false, true])
  wait(60_000)
  expect(['id a', 'id b'].map(key => one.mayHave('o', key))).toEqual([true, false])
  expect(one.mayHave('p', 'id b')).toBe(true)
})

test('a store that takes nothing, or does not answer, costs thoughts and no request', TIMED, async () => {
  const broken = await sharing({
    records: {
      changeReasoning: () => Promise.reject(new Error('full')),
      reasoning: () => Promise.reject(new Error('full')),
    },
  })
  const one = broken.open()
  for (let count = 0; count < 3; count++) {
    one.save('o', [['id a']], THOUGHTS, 1000)
    await one.journal.idle()
    expect(await one.find('o', ['id a'])).toEqual([])
  }
  expect([one.journal.dropped, broken.faults.length]).toEqual([3, 1])
  const hanging = await sharing({
    records: { changeReasoning: () => new Promise(() => {}), reasoning: () => new Promise(() => {}) },
  })
  const began = performance.now()
  expect(await hanging.open().find('o', ['id a'])).toEqual([])
  expect(performance.now() - began).toBeLessThan(2000)
})

test('what waits for a slow store is bounded, and what is dropped is counted', async () => {
  const slow = await sharing({ records: { changeReasoning: () => new Promise(() => {}), reasoning: async () => [] } })
  const one = slow.open()
  for (let count = 0; count < 5000; count++) one.save('o', [[`id ${count}`]], THOUGHTS, 1000)
  expect(one.journal.dropped).toBeGreaterThanOrEqual(2900)
  const large = { ...THOUGHTS, issuer: 'x'.repeat(2 ** 20) }
  const before = slow.open()
  for (let count = 0; count < 40; count++) before.save('o', [[`id ${count}`]], large, 1000)
  expect(before.journal.dropped).toBeGreaterThanOrEqual(20)
})

test('an answer that is read once is written in one batch with others', async () => {
  const { open, records } = await sharing()
  const one = open()
  for (let count = 0; count < 100; count++) one.save('o', [[`id ${count}`]], THOUGHTS, 1000)
  await one.journal.idle()
  expect(records.changeReasoning).toHaveBeenCalledTimes(2)
  const keys = Array.from({ length: 100 }, (_, count) => `id ${count}`)
  expect(await open().find('o', keys)).toHaveLength(100)
})

test('a request that has no calls does not ask the store for thoughts', async () => {
  const { thinker, one } = await pair()
  thinker.scenes = [THINKS, THINKS]
  const asked = vi.spyOn(SharedReasoning.prototype, 'find')
  const looked = vi.spyOn(OwnerReasoning.prototype, 'fetch')
  expect((await one.chat([ASKED])).status).toBe(200)
  expect([asked.mock.calls.length, looked.mock.calls.length]).toEqual([0, 0])
  expect((await one.chat(history({ ...CALL, id: 'toolu_01Unknown7Hq2' }))).status).toBe(200)
  expect([asked.mock.calls.length, looked.mock.calls.length]).toEqual([1, 1])
})
