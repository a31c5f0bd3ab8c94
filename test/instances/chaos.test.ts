import { randomInt } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/store.ts'
import { ANSWER, ASK, events, HEAD, json, STREAM, TAIL, words } from '../builders/chat.ts'
import { noPostgres, startPostgres, type TestPostgres } from '../builders/postgres.ts'
import { HAS_REDIS, RedisServer } from '../builders/redis.ts'
import { pause, TIMED, until } from '../builders/time.ts'
import { HOUR } from '../builders/units.ts'
import { FakeUpstream, type Script } from '../builders/upstream.ts'
import { Fleet } from './fleet.ts'
import { Instance } from './instance.ts'

/* Behaviour of a gateway of several processes while they, PostgreSQL and Redis are killed, stopped and started. */

const CHAT = '/v1/chat/completions'
const missing = noPostgres ?? (HAS_REDIS ? undefined : 'there is no redis-server')
if (missing !== undefined) console.warn(`Tests of faults of several instances are SKIPPED: ${missing}`)

let redis: RedisServer
let postgres: TestPostgres
let upstream: FakeUpstream
let fleet: Fleet

const answering: Script = (response, { text }) => {
  const { model, stream } = JSON.parse(text)
  if (model === 'endless') return stream === true ? events(response).write(HEAD + words('Once')) : undefined
  const answer = () => (stream === true ? events(response).end(HEAD + words('Hello.') + TAIL) : json(response, ANSWER))
  return setTimeout(answer, 10)
}

beforeAll(async () => {
  if (missing !== undefined) return
  ;[redis, postgres, upstream] = await Promise.all([RedisServer.open(), startPostgres(), FakeUpstream.open(answering)])
})
afterAll(() => Promise.all([upstream?.close(), postgres?.close(), redis?.close()]))

beforeEach(async () => {
  if (missing !== undefined) return
  upstream.script = answering
  upstream.seen.length = 0
  const { url } = await postgres.database()
  fleet = await Fleet.start({
    store: url,
    redis: redis.url,
    config: {
      server: { drain: '0s', grace: '1s' },
      groups: { default: {} },
      channels: [
        {
          ...{ name: 'up', provider: 'custom', formats: ['chat'], key: 'none', models: ['m', 'endless'] },
          base_url: `${upstream.address}/v1`,
        },
      ],
    },
  })
})
afterEach(async () => {
  await fleet?.close()
})

interface Load {
  readonly statuses: number[]
  readonly broken: unknown[]
  stop(): Promise<void>
}

/** Sends requests in several lanes, one after another in each lane. */
function load(lanes: number, ask: () => Promise<Response>): Load {
  const statuses: number[] = []
  const broken: unknown[] = []
  let isOver = false
  const lane = async (): Promise<void> => {
    while (!isOver) {
      try {
        const answer = await ask()
        await answer.text()
        statuses.push(answer.status)
      } catch (fault) {
        broken.push(fault)
        await pause(20)
      }
    }
  }
  const all = Promise.all(Array.from({ length: lanes }, lane))
  const stop = async (): Promise<void> => {
    isOver = true
    await all
  }
  return { statuses, broken, stop }
}

/**
 * Whether nobody listens: all workers of the instance, or the instance itself, were killed, and their successors are
 * still starting.
 */
const isRefused = (fault: unknown): boolean =>
  (fault as { readonly cause?: { readonly code?: string } }).cause?.code === 'ECONNREFUSED'

/** Returns the number of requests according to the hourly sums. */
async function summed(): Promise<number> {
  const store = await openStore({ engine: 'postgres', url: fleet.shared.store })
  try {
    const [all] = await store.usage.sums({ by: [], since: 0, until: Date.now() + HOUR, limit: 1 })
    return all?.requests ?? 0
  } finally {
    await store.close()
  }
}

const query = async (statement: string): Promise<Record<string, unknown>> => {
  const client = new Client({ connectionString: fleet.shared.store })
  await client.connect()
  const { rows } = await client.query(statement).finally(() => client.end())
  return rows[0]
}

describe.skipIf(missing !== undefined)('faults', TIMED, () => {
  test('kills of workers and of an instance take their own requests with them, and nothing that was acknowledged', async () => {
    const key = await fleet.key('app')
    const held = await fleet.key('held', '--concurrent', '4')
    const hang = () => fleet.ask(CHAT, held, { ...ASK, model: 'endless' }).catch(() => undefined)
    for (let count = 0; count < 4; count++) void hang()
    await until(() => upstream.seen.length === 4)
    const chats = load(6, () => fleet.ask(CHAT, key, ASK))
    const stored: string[] = []
    const writes = load(6, async () => {
      const answer = await fleet.ask('/v1/responses', key, { model: 'm', input: 'Hi!' })
      if (answer.status === 200) stored.push(((await answer.clone().json()) as { id: string }).id)
      return answer
    })
    let kills = 0
    for (const end = Date.now() + 6000; Date.now() < end; kills++) {
      await pause(1000 + randomInt(1000))
      const { pids } = fleet
      if (pids.length > 0) process.kill(pids[randomInt(pids.length)]!, 'SIGKILL')
    }
    const [first, other] = fleet.instances as [Instance, Instance]
    const killed = Date.now()
    await first.stop('SIGKILL')
    fleet.instances = [other]
    fleet.instances = [other, await Instance.start(fleet.shared)]
    await pause(1000)
    await Promise.all([chats.stop(), writes.stop()])
    const statuses = [...chats.statuses, ...writes.statuses]
    expect(statuses.length).toBeGreaterThan(100)
    expect(statuses.filter(status => status !== 200)).toEqual([])
    expect([...chats.broken, ...writes.broken].filter(fault => !isRefused(fault)).length).toBeLessThanOrEqual(
      12 * (kills + 1),
    )
    for (const id of stored) expect((await fleet.ask(`/v1/responses/${id}`, key)).status).toBe(200)
    const { count, ids } = await query('select count(*) as count, count(distinct id) as ids from usage_rows')
    expect(count).toBe(ids)
    expect(Number(count)).toBeGreaterThan(statuses.length / 2)
    await expect.poll(summed).toBe(Number((await query('select count(*) as count from usage_rows'))['count']))
    const seen = upstream.seen.filter(({ text }) => text.includes('endless')).length
    while (upstream.seen.filter(({ text }) => text.includes('endless')).length < seen + 1) {
      expect(Date.now() - killed).toBeLessThan(60_000)
      void hang()
      await pause(500)
    }
  })

  test('a crash of PostgreSQL, and of Redis with it, is seen by no plain request', async () => {
    const key = await fleet.key('app', '--rpm', '1000000', '--concurrent', '1000')
    const chats = load(4, () => fleet.ask(CHAT, key, ASK))
    const responses = load(2, () => fleet.ask('/v1/responses', key, { model: 'm', input: 'Hi!' }))
    await pause(1000)
    await postgres.crash()
    await pause(3000)
    await redis.stop()
    await pause(2000)
    await redis.start()
    await postgres.start()
    await pause(2000)
    redis.pause()
    await pause(3000)
    redis.resume()
    await pause(2000)
    await Promise.all([chats.stop(), responses.stop()])
    expect(chats.broken).toEqual([])
    expect(new Set(chats.statuses)).toEqual(new Set([200]))
    expect(responses.broken).toEqual([])
    expect(new Set(responses.statuses)).toEqual(new Set([200]))
    const kept = async () => {
      const { id } = await fleet.json('/v1/responses', key, { model: 'm', input: 'Hi!' })
      return (await fleet.ask(`/v1/responses/${id}`, key)).status
    }
    await expect.poll(kept).toBe(200)
  })

  test('work in the background outlives a crash of PostgreSQL', async () => {
    const key = await fleet.key('app')
    const finish: (() => void)[] = []
    upstream.script = (response, seen) => void finish.push(() => answering(response, seen))
    const { id } = await fleet.json('/v1/responses', key, { model: 'm', input: 'Hi!', background: true })
    await until(() => finish.length === 1)
    await postgres.crash()
    await pause(1000)
    finish[0]!()
    await pause(1000)
    await postgres.start()
    const status = async () => (await fleet.json(`/v1/responses/${id}`, key)).status
    await expect.poll(status).toBe('completed')
  })

  test('places that are taken stay taken where Redis loses what it held', async () => {
    const key = await fleet.key('four', '--concurrent', '4')
    for (let count = 0; count < 4; count++) void fleet.ask(CHAT, key, { ...ASK, model: 'endless' }).catch(() => {})
    await until(() => upstream.seen.length === 4)
    expect((await fleet.ask(CHAT, key, ASK)).status).toBe(429)
    await redis.stop()
    await redis.start()
    await pause(2500)
    const all = await Promise.all(Array.from({ length: 8 }, () => fleet.ask(CHAT, key, ASK)))
    expect(all.map(({ status }) => status)).toEqual(Array(8).fill(429))
  })

  test('a process that stands still for seconds fails no request, and holds up no other instance', async () => {
    const key = await fleet.key('app', '--rpm', '1000000')
    const chats = load(8, () => fleet.ask(CHAT, key, ASK))
    await pause(500)
    for (const pid of [...fleet.instances[0]!.workers, fleet.instances[0]!.pid]) {
      process.kill(pid, 'SIGSTOP')
      await pause(1500)
      process.kill(pid, 'SIGCONT')
    }
    await pause(500)
    await chats.stop()
    expect(chats.broken).toEqual([])
    expect(new Set(chats.statuses)).toEqual(new Set([200]))
  })

  test('50 streams at two workers are told that it stops, and nothing is left of it', async () => {
    const key = await fleet.key('app')
    const one = fleet.instances[0]!
    await fleet.instances[1]!.stop('SIGKILL')
    fleet.instances = [one]
    const pids = one.workers
    const streams = await Promise.all(
      Array.from({ length: 50 }, () => fleet.ask(CHAT, key, { ...STREAM, model: 'endless' })),
    )
    await until(() => upstream.seen.length === 50)
    const began = Date.now()
    const [texts] = await Promise.all([Promise.all(streams.map(stream => stream.text())), one.stop('SIGTERM')])
    expect(Date.now() - began).toBeLessThan(8000)
    for (const text of texts) expect(text).toContain('"error"')
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow()
  })

  test('another store and no Redis, of a config that changes under load, fail no request', async () => {
    const key = 'sk-of-the-config'
    const keys = [{ name: 'fixed', key, group: 'default' }]
    const one = fleet.instances[0]!
    await fleet.instances[1]!.stop('SIGKILL')
    fleet.instances = [one]
    const before = one.workers
    one.configure({ ...fleet.shared, config: { ...fleet.shared.config, keys } })
    await fleet.known(key)
    const chats = load(6, () => fleet.ask(CHAT, key, ASK))
    await pause(500)
    const { url } = await postgres.database()
    const { redis: _, ...alone } = fleet.shared
    one.configure({ ...alone, store: url, config: { ...fleet.shared.config, keys } })
    await until(() => one.workers.length === 2 && !one.workers.some(pid => before.includes(pid)), 45_000)
    await pause(500)
    await chats.stop()
    expect(chats.broken).toEqual([])
    expect(new Set(chats.statuses)).toEqual(new Set([200]))
  })
})
