import { createClient } from '@redis/client'
import { expect, test } from 'vitest'
import { Limits } from '../../../src/accounts/limits/index.ts'
import { OpenRedis } from '../../../src/store/cluster/redis.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { describeWithRedis, RedisServer } from '../../builders/redis.ts'
import { pause, TIMED } from '../../builders/time.ts'

/** Nanodollars per dollar. */
const DOLLAR = 1e9
const SETTINGS = { budget: { day: 5, month: 50 } }
const SILENT = { info() {}, warn() {}, error() {} }

describeWithRedis('Redis that comes back with older data', () => {
  const closing = closingAfterEach()

  async function open() {
    const server = await RedisServer.open()
    const redis = new OpenRedis(server.url, SILENT)
    await redis.ready(5000)
    /** Dollars that the usage rows state. */
    const stored = { day: 0, month: 0 }
    let reads = 0
    const spent = async () => {
      reads++
      return { day: stored.day * DOLLAR, month: stored.month * DOLLAR }
    }
    const limits = new Limits({ redis, spent, recountDelay: 20 })
    closing.push(async () => {
      limits.close()
      await redis.close()
      await server.close()
    })
    /** Spends dollars if the budget covers them. Rows are stored. */
    const spend = async (dollars: number): Promise<boolean> => {
      const reservation = limits.of('k', SETTINGS)
      try {
        await reservation.enter()
        await reservation.reserve(
          () => ({ input: 1, output: 1 }),
          undefined,
          () => dollars * DOLLAR,
        )
      } catch {
        return false
      }
      reservation.settle({ input: 1, output: 1 }, dollars * DOLLAR)
      stored.day += dollars
      stored.month += dollars
      return true
    }
    const client = createClient({ url: server.url })
    await client.connect()
    closing.push(() => client.destroy())
    /** Gives the key an earlier spend in Redis, and breaks the gateway's connection. */
    const goBack = async (dollars: number): Promise<void> => {
      // Held quota is given back first.
      await pause(200)
      await client.hSet('interlingua:limits:{k}', { d: `${dollars * DOLLAR}`, m: `${dollars * DOLLAR}` })
      await client.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'])
      await pause(50)
      await redis.ready(5000)
      await pause(100)
    }
    return { spend, goBack, stored, reads: () => reads, server, redis }
  }

  test('lets no key spend again what its usage rows state', TIMED, async () => {
    const { spend, goBack } = await open()
    expect([await spend(2), await spend(2)]).toEqual([true, true])
    await goBack(1)
    expect([await spend(2), await spend(1), await spend(1)]).toEqual([false, true, false])
  })

  test('keeps what Redis counted beyond the rows, and the rows are read once', TIMED, async () => {
    const { spend, goBack, stored, reads } = await open()
    expect(await spend(2)).toBe(true)
    // Another gateway, whose rows are in another store, spent more.
    await goBack(4)
    Object.assign(stored, { day: 2, month: 2 })
    const before = reads()
    expect([await spend(2), await spend(1), await spend(1)]).toEqual([false, true, false])
    expect(reads() - before).toBe(1)
  })
})
