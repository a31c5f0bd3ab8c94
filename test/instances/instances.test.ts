import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ANSWER, ASK, events, HEAD, json, STREAM, TAIL, words } from '../builders/chat.ts'
import { freshDatabase, noPostgres, type TestDatabase } from '../builders/postgres.ts'
import { HAS_REDIS, RedisServer } from '../builders/redis.ts'
import { pause, TIMED, until } from '../builders/time.ts'
import { FakeUpstream, type Script } from '../builders/upstream.ts'
import { command, Instance, type Shared } from './instance.ts'

/* Two gateways as separate processes, without a common folder, over one PostgreSQL and one Redis. */

const CHAT = '/v1/chat/completions'
const missing = noPostgres ?? (HAS_REDIS ? undefined : 'there is no redis-server')
if (missing !== undefined) console.warn(`Tests of several instances are SKIPPED: ${missing}`)

let redis: RedisServer
let database: TestDatabase
let upstream: FakeUpstream
let shared: Shared
let near: Instance
let far: Instance

interface Stored {
  readonly id: string
  readonly status: string
}

const answering: Script = response => json(response, ANSWER)

beforeAll(async () => {
  if (missing === undefined) redis = await RedisServer.open()
})
afterAll(() => redis?.close())

beforeEach(async () => {
  upstream = await FakeUpstream.open(answering)
  database = await freshDatabase()
  shared = {
    store: database.url,
    redis: redis.url,
    config: {
      groups: { default: {}, limited: { rpm: 100 } },
      channels: [
        {
          ...{ name: 'up', provider: 'custom', formats: ['chat'], key: 'none', models: ['m'] },
          base_url: `${upstream.address}/v1`,
        },
      ],
    },
  }
  ;[near, far] = await Promise.all([Instance.start(shared), Instance.start(shared)])
})
afterEach(async () => {
  await Promise.all([near.stop('SIGKILL'), far.stop('SIGKILL')])
  await upstream.close()
  await database.drop()
})

/** Creates a key and waits until both instances know it. */
async function createKey(name: string, ...options: string[]): Promise<string> {
  const key = await command(shared, 'keys', 'create', name, ...options)
  for (const one of [near, far]) await expect.poll(async () => (await one.ask('/v1/models', key)).status).toBe(200)
  return key
}

/** Returns the milliseconds until an instance refuses the key. */
async function refusedAfter(instance: Instance, key: string): Promise<number> {
  const began = performance.now()
  while ((await instance.ask('/v1/models', key)).status !== 401) {
    if (performance.now() - began > 10_000) return Number.POSITIVE_INFINITY
    await pause(10)
  }
  return performance.now() - began
}

describe.skipIf(missing !== undefined)('two instances', TIMED, () => {
  test('refuse a revoked key within a second, and end its streams', async () => {
    const key = await createKey('app')
    upstream.script = response => events(response).write(HEAD + words('Once'))
    const stream = await far.ask(CHAT, key, STREAM)
    const reader = stream.body!.getReader()
    await reader.read()
    await command(shared, 'keys', 'revoke', 'app')
    const delays = await Promise.all([near, far].map(one => refusedAfter(one, key)))
    expect(Math.max(...delays)).toBeLessThan(1000)
    let rest = ''
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      rest += new TextDecoder().decode(piece.value)
    expect(rest).toContain('"error"')
  })

  test('share a limit of 100 requests a minute exactly, asked 1,000 times at once', async () => {
    const key = await createKey('limited', '--group', 'limited')
    const began = performance.now()
    const answers = await Promise.all(
      Array.from({ length: 1000 }, (_, index) => (index % 2 === 0 ? near : far).ask(CHAT, key, ASK)),
    )
    const took = performance.now() - began
    const statuses = answers.map(({ status }) => status)
    const admitted = statuses.filter(status => status === 200).length
    const refilled = Math.ceil((100 * took) / 60_000)
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    expect(admitted).toBeGreaterThanOrEqual(100)
    expect(admitted).toBeLessThanOrEqual(100 + refilled)
    expect(answers.find(({ status }) => status === 429)!.headers.get('retry-after')).toMatch(/^\d+$/)
  })

  test('continue a response of each other, and follow its background work', async () => {
    const key = await createKey('app')
    const first = (await (await near.ask('/v1/responses', key, { model: 'm', input: 'Hi!' })).json()) as Stored
    const more = { model: 'm', input: 'And then?', previous_response_id: first.id }
    expect((await far.ask('/v1/responses', key, more)).status).toBe(200)
    expect(JSON.parse(upstream.seen.at(-1)!.text).messages).toHaveLength(3)

    let finish = (): void => {}
    upstream.script = (response, seen) => {
      const isStream = JSON.parse(seen.text).stream === true
      finish = () => (isStream ? void events(response).end(HEAD + words('Done.') + TAIL) : json(response, ANSWER))
    }
    const slow = { model: 'm', input: 'Slowly.', background: true }
    const begun = (await (await near.ask('/v1/responses', key, slow)).json()) as Stored
    await until(() => upstream.seen.length === 3)
    const polled = async () => ((await (await far.ask(`/v1/responses/${begun.id}`, key)).json()) as Stored).status
    await expect.poll(polled).toBe('in_progress')
    finish()
    await expect.poll(polled).toBe('completed')
  })

  test('lose no acknowledged response or key to the kill of one of them', async () => {
    const key = await createKey('app')
    const stored: string[] = []
    const killed = pause(1500).then(() => near.stop('SIGKILL'))
    const write = async (): Promise<void> => {
      for (;;) {
        const answer = await near.ask('/v1/responses', key, { model: 'm', input: 'Hi!' }).catch(() => undefined)
        const body = (await answer?.json().catch(() => undefined)) as Stored | undefined
        if (body?.id === undefined) return
        stored.push(body.id)
      }
    }
    await Promise.all([killed, ...Array.from({ length: 8 }, write)])
    expect(stored.length).toBeGreaterThan(10)
    for (const id of stored) expect((await far.ask(`/v1/responses/${id}`, key)).status).toBe(200)
  })

  test('answer every request while Redis goes and comes back', async () => {
    const key = await createKey('app', '--rpm', '1000000')
    const statuses: number[] = []
    let isOver = false
    const load = async (instance: Instance): Promise<void> => {
      while (!isOver) {
        const { status } = await instance.ask(CHAT, key, ASK)
        statuses.push(status)
      }
    }
    const loads = [near, far].flatMap(one => [load(one), load(one), load(one)])
    await pause(500)
    await redis.stop()
    await pause(2000)
    await redis.start()
    await pause(2000)
    isOver = true
    await Promise.all(loads)
    expect(statuses.length).toBeGreaterThan(100)
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(near.written).toContain('Redis cannot be reached')
  })
})
