import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChannelConfig } from '../../../src/config/index.ts'
import { AdminServer } from '../../builders/admin.ts'
import { ASK, helloWhole } from '../../builders/chat.ts'
import { channelAt, KEY, keyOf } from '../../builders/config.ts'
import { crowd, idOf } from '../../builders/crowd.ts'
import { ON_FILES } from '../../builders/engines.ts'
import { CHAT_PATH } from '../../builders/paths.ts'
import { TIMED } from '../../builders/time.ts'
import { FakeUpstream } from '../../builders/upstream.ts'

/* A gateway with ten thousand keys, groups and models, whose administrators list, filter and change them. */

const COUNT = 10_000
const CHANNELS = 1000

describe.runIf(ON_FILES)(`with ${COUNT} keys and groups`, () => {
  let admin: AdminServer
  let upstream: FakeUpstream
  beforeAll(async () => {
    upstream = await FakeUpstream.open(helloWhole)
    const channels = Array.from({ length: CHANNELS }, (_, at): ChannelConfig => {
      const models = { named: new Map([[at === 0 ? 'm' : `m${at}`, 'm']]), patterns: [] }
      return channelAt(upstream.address, { name: `channel-${at}`, models })
    })
    const keys = [keyOf(KEY, 'dev'), ...Array.from({ length: 2000 }, (_, at) => keyOf(`fixed-${at}`, `fixed-${at}`))]
    admin = await AdminServer.open(channels, { keys })
    crowd(admin.path, COUNT)
    await admin.testServer.server.refresh()
  })
  afterAll(async () => {
    await admin.close()
    await upstream.close()
  })

  /** Returns the milliseconds that work takes, and the longest time for which it held up the event loop. */
  async function timesOf(work: () => Promise<unknown>): Promise<{ readonly took: number; readonly held: number }> {
    const start = performance.now()
    let held = 0
    let last = start
    const timer = setInterval(() => {
      held = Math.max(held, performance.now() - last - 1)
      last = performance.now()
    }, 1)
    await work()
    clearInterval(timer)
    return { took: performance.now() - start, held: Math.max(held, performance.now() - last) }
  }

  const LONG = 'x'.repeat(90)
  test.each<[string, string, string, unknown?]>([
    ['lists a page of keys', 'GET', '/keys?limit=200'],
    ['lists the keys of a group', 'GET', '/keys?group=group-5000'],
    ['finds a key by its name', 'GET', '/keys?name=key-9999'],
    ['finds no key', 'GET', '/keys?name=nobody'],
    ['lists all groups', 'GET', '/groups'],
    ['reads a group', 'GET', '/groups/group-9999'],
    ['reads a key of the config', 'GET', `/keys/${idOf(9999)}`],
    ['lists all channels', 'GET', '/channels'],
    ['lists all models', 'GET', '/models'],
    ['lists settings of models', 'GET', '/model-settings'],
    ['sums budgets', 'GET', '/budgets'],
    ['shows the overview', 'GET', '/overview'],
    ['shows the status', 'GET', '/status'],
    ['creates a key', 'POST', '/keys', { name: 'new', group: 'group-1' }],
    ['refuses a misspelt group', 'POST', '/keys', { name: 'other', group: `group-${LONG}` }],
    ['refuses a taken name', 'POST', '/keys', { name: 'key-1' }],
    ['changes a key', 'PATCH', `/keys/${idOf(77)}`, { note: 'x' }],
    ['rotates a key', 'POST', `/keys/${idOf(78)}/rotate`, {}],
    ['revokes a key', 'DELETE', `/keys/${idOf(79)}`],
    ['creates a group', 'PUT', '/groups/new', { models: ['*'] }],
    ['changes a group', 'PATCH', '/groups/group-80', { rpm: 5 }],
    ['refuses to delete a group in use', 'DELETE', '/groups/group-81'],
    ['deletes a group', 'DELETE', '/groups/new'],
    ['drains a channel', 'POST', '/channels/channel-500/drain', {}],
    ['changes settings of a model', 'PUT', '/model-settings/model-5', { context: 2000 }],
  ])('%s in a moment, and holds up no request', TIMED, async (_, method, path, body) => {
    const { took, held } = await timesOf(() => admin.ask(method, path, body))
    expect(took).toBeLessThan(1500)
    expect(held).toBeLessThan(600)
  })

  test('walks all keys page by page, each once, though keys change between the pages', TIMED, async () => {
    const seen: string[] = []
    let cursor: string | undefined
    const start = performance.now()
    for (let page = 0; page < 100; page++) {
      const { json } = await admin.get(`/keys?limit=200${cursor === undefined ? '' : `&cursor=${cursor}`}`)
      seen.push(...json.data.map(({ id }: { id: string }) => id))
      if (page === 20) await admin.delete(`/keys/${seen.at(-1)}`)
      if (page === 21) await admin.patch(`/keys/${idOf(9000)}`, { note: 'between pages' })
      cursor = json.next_cursor
      if (cursor === undefined) break
    }
    expect(cursor).toBeUndefined()
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen.length).toBeGreaterThan(COUNT + 1900)
    expect(performance.now() - start).toBeLessThan(8000)
  })

  test('answers requests of the first and the last key as fast as of one', TIMED, async () => {
    const ask = (key: string) => admin.testServer.ask(CHAT_PATH, ASK, { headers: { authorization: `Bearer ${key}` } })
    for (const key of [KEY, 'fixed-1999', 'secret-0', 'secret-9999']) {
      await ask(key)
      const { took } = await timesOf(async () => expect((await ask(key)).status).toBe(200))
      expect(took).toBeLessThan(300)
    }
    expect((await ask('secret-10001')).status).toBe(401)
  })
})
