import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@redis/client'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { Limits } from '../../../src/accounts/limits/index.ts'
import type { Reservation } from '../../../src/accounts/limits/reservation.ts'
import { hashOf } from '../../../src/config/hash.ts'
import { OpenRedis } from '../../../src/store/cluster/redis.ts'
import { ANSWER, ASK, json } from '../../builders/chat.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { channelAt, KEY } from '../../builders/config.ts'
import { TestServer } from '../../builders/gateway.ts'
import { describeWithRedis, RedisServer } from '../../builders/redis.ts'
import { pause, TIMED } from '../../builders/time.ts'
import { FakeUpstream } from '../../builders/upstream.ts'
import { runsOf } from '../../models/runs.ts'

/*
 * A Redis that evicts counts in the middle of the day, as one with `maxmemory` and a policy for all keys does. The
 * reservations of running requests are lost with the counts, so that their settlements correct nothing. No connection
 * breaks, and only one of several processes may notice.
 */

/** Nanodollars per dollar. */
const DOLLAR = 1e9
const SETTINGS = { budget: { day: 5, month: 50 } }
const SILENT = { info() {}, warn() {}, error() {} }
const COUNTS = 'interlingua:limits:{k}'

describeWithRedis('counts that Redis evicted', () => {
  const closing = closingAfterEach()

  async function open(...options: string[]) {
    const server = await RedisServer.open(...options)
    closing.push(() => server.close())
    const client = createClient({ url: server.url })
    await client.connect()
    closing.push(() => client.destroy())
    /** Nanodollars that the usage rows state, by key. */
    const rows = new Map<string, number>()
    const spentBy = async (keys: readonly string[]) =>
      new Map(keys.flatMap(key => (rows.has(key) ? [[key, { day: rows.get(key)!, month: rows.get(key)! }]] : [])))
    const process = async () => {
      const redis = new OpenRedis(server.url, SILENT)
      await redis.ready(5000)
      const spent = async (key: string) => (await spentBy([key])).get(key) ?? { day: 0, month: 0 }
      const limits = new Limits({ redis, spent, spentBy, recountInterval: 30 })
      closing.push(async () => {
        limits.close()
        await redis.close()
      })
      return limits
    }
    return { client, rows, process, url: server.url }
  }

  /** Begins a request that is expected to cost that many dollars. Returns undefined if the budget does not cover it. */
  async function begin(limits: Limits, dollars: number, key = 'k'): Promise<Reservation | undefined> {
    const reservation = limits.of(key, SETTINGS)
    const cost = () => dollars * DOLLAR
    try {
      await reservation.enter()
      await reservation.reserve(() => ({ input: 1, output: 1 }), undefined, cost)
      return reservation
    } catch {
      return undefined
    }
  }

  test('let a key spend nothing again, whoever notices the loss', TIMED, async () => {
    const { client, rows, process } = await open('--maxmemory-policy', 'allkeys-lru')
    const dollarsIn = async (name: string) => Number(await client.hGet(name, 'd')) / DOLLAR
    const [one, other] = [await process(), await process()]
    const long = await begin(one, 4)
    const used = Number(/used_memory:(\d+)/.exec(await client.info('memory'))![1])
    await client.configSet('maxmemory', `${used + 100_000}`)
    for (let n = 0; (await client.exists(COUNTS)) === 1; n++) await client.set(`filler-${n}`, 'x'.repeat(1000))
    await client.configSet('maxmemory', '0')
    const short = await begin(other, 0.1)
    short!.settle({ input: 1, output: 1 }, 0.1 * DOLLAR)
    long!.settle({ input: 1, output: 1 }, 4 * DOLLAR)
    rows.set('k', 4.1 * DOLLAR)
    await vi.waitFor(async () => expect(await dollarsIn(COUNTS)).toBe(4.1), 3000)
    expect([await begin(one, 1), await begin(other, 1)]).toEqual([undefined, undefined])
    expect(await begin(other, 0.8)).toBeDefined()
  })

  test('are compared with the rows of the store each minute by a gateway', TIMED, async () => {
    const { client, url } = await open()
    const folder = mkdtempSync(join(tmpdir(), 'redis-eviction-'))
    closing.push(() => rmSync(folder, { recursive: true, force: true }))
    const upstream = await FakeUpstream.open(response => json(response, ANSWER))
    closing.push(() => upstream.close())
    const models = { named: new Map([['m', 'gpt-4o']]), patterns: [] }
    vi.useFakeTimers({ toFake: ['setInterval'] })
    closing.push(() => vi.useRealTimers())
    const server = await TestServer.open([channelAt(upstream.address, { models, provider: 'openai' })], {
      ...{ keep: folder, group: { budget: { day: 1 } }, config: { redis: url, usage: { retention: 3_600_000 } } },
    })
    closing.push(() => server.server.close())
    expect((await server.ask('/v1/chat/completions', { ...ASK, model: 'm' })).status).toBe(200)
    const name = `interlingua:limits:{${hashOf(KEY).slice(0, 32)}}`
    const spent = async () => Number(await client.hGet(name, 'd'))
    const cost = await spent()
    expect(cost).toBeGreaterThan(0)
    await pause(1500)
    await client.hSet(name, 'd', '0')
    vi.advanceTimersByTime(60_000)
    await vi.waitFor(async () => expect(await spent()).toBe(cost), 5000)
  })

  test('equal the usage rows once no request runs, whatever happened', TIMED, async () => {
    const { client, rows, process } = await open()
    const processes = [await process(), await process()]
    const cents = fc.integer({ min: 0, max: 60 }).map(count => count / 100)
    const action = fc.oneof(
      fc.record({ does: fc.constant('begin' as const), at: fc.nat(1), cost: cents }),
      fc.record({ does: fc.constant('end' as const), at: fc.nat(3), cost: cents }),
      fc.record({ does: fc.constant('evict' as const) }),
      fc.record({ does: fc.constant('wait' as const) }),
    )
    let round = 0
    const runs = fc.asyncProperty(fc.array(action, { maxLength: 25 }), async actions => {
      const key = `k${round++}`
      const name = `interlingua:limits:{${key}}`
      const running: Reservation[] = []
      let total = 0
      const end = async (reservation: Reservation | undefined, dollars: number): Promise<void> => {
        if (reservation === undefined) return
        const cost = Math.round(dollars * DOLLAR)
        reservation.settle({ input: 1, output: 1 }, cost)
        rows.set(key, (total += cost))
      }
      for (const one of actions)
        if (one.does === 'begin') {
          const reservation = await begin(processes[one.at]!, one.cost, key)
          if (reservation !== undefined) running.push(reservation)
        } else if (one.does === 'end') await end(running.splice(one.at, 1)[0], one.cost)
        else if (one.does === 'evict') await client.del(name)
        else await pause(35)
      for (const reservation of running) await end(reservation, 0.25)
      if (total === 0) return
      await vi.waitFor(async () => expect(await client.hmGet(name, ['d', 'm'])).toEqual([`${total}`, `${total}`]), 3000)
    })
    await fc.assert(runs, { numRuns: runsOf(8) })
  })
})
