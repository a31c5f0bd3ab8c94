import { createClient } from '@redis/client'
import { expect, test } from 'vitest'
import { Limits } from '../../../src/accounts/limits/index.ts'
import type { LimitSettings } from '../../../src/config/index.ts'
import { RedisBus } from '../../../src/store/cluster/bus.ts'
import { OpenRedis } from '../../../src/store/cluster/redis.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import type { Line } from '../../builders/gateway.ts'
import { movingProxy } from '../../builders/moving-proxy.ts'
import { describeWithRedis, RedisServer } from '../../builders/redis.ts'
import { pause, TIMED, until } from '../../builders/time.ts'

/*
 * A failover of Redis, as a sentinel does it: another server becomes the primary, and the address of the config leads
 * there. The former primary comes back, or never left, and follows the new one. Connections to it stay open.
 */

describeWithRedis('a failover of Redis', () => {
  const closing = closingAfterEach()

  async function serverWith(...options: string[]) {
    const server = await RedisServer.open(...options)
    closing.push(() => server.close())
    return server
  }

  /** Sends a command to a server. */
  async function tell(server: RedisServer, ...command: string[]): Promise<unknown> {
    const client = createClient({ url: server.url })
    await client.connect()
    return client.sendCommand(command).finally(() => client.destroy())
  }

  /** Two servers, the second of which follows the first, and an address that leads to the first. */
  async function pair() {
    const [first, second] = [await serverWith(), await serverWith()]
    await tell(second, 'REPLICAOF', '127.0.0.1', `${first.port}`)
    const proxy = await movingProxy(first.port)
    closing.push(() => proxy.close())
    const failOver = async (): Promise<void> => {
      await tell(second, 'REPLICAOF', 'NO', 'ONE')
      proxy.move(second.port)
      await tell(first, 'REPLICAOF', '127.0.0.1', `${second.port}`)
    }
    return { first, second, proxy, failOver, url: `redis://127.0.0.1:${proxy.port}` }
  }

  async function linkTo(url: string) {
    const lines: Line[] = []
    const noting = (level: Line['level']) => (fields: object, message: string) =>
      void lines.push({ level, fields: fields as Line['fields'], message })
    const log = { info: noting('info'), warn: noting('warn'), error: noting('error') }
    const redis = new OpenRedis(url, log)
    await redis.ready(5000)
    closing.push(() => redis.close())
    return { redis, log, lines }
  }

  async function limitsAt(url: string, owner: string) {
    const { redis, lines, log } = await linkTo(url)
    const limits = new Limits({ redis, owner, log })
    closing.push(() => limits.close())
    return { limits, redis, lines }
  }

  const admits = (limits: Limits, settings: LimitSettings, key = 'k'): Promise<boolean> =>
    Promise.resolve(limits.of(key, settings).enter()).then(
      () => true,
      () => false,
    )

  test('counts continue at the new primary, although connections to the former one stay open', TIMED, async () => {
    const { second, failOver, url } = await pair()
    const [one, other] = [await limitsAt(url, 'one'), await limitsAt(url, 'other')]
    const slots = { concurrent: 2 }
    expect([await admits(one.limits, slots), await admits(other.limits, slots)]).toEqual([true, true])
    await until(() => [one, other].every(({ limits }) => !limits.isAlone))
    await failOver()
    // The next steps fail at the former primary.
    await Promise.all([one, other].map(({ limits }) => admits(limits, slots, 'other')))
    await until(() => [one, other].every(({ limits }) => !limits.isAlone), 10_000)
    expect([await admits(one.limits, slots), await admits(other.limits, slots)]).toEqual([false, false])
    expect(await tell(second, 'ZCARD', 'interlingua:limits:{k}:places')).toBe(2)
    for (const { lines } of [one, other])
      expect(lines.filter(({ message }) => message === 'Redis cannot be reached').length).toBe(1)
  })

  test('a former primary without a successor in reach is one outage in the log', TIMED, async () => {
    const { first, second, url } = await pair()
    const { limits, lines } = await limitsAt(url, 'one')
    await tell(first, 'REPLICAOF', '127.0.0.1', `${second.port}`)
    expect(await admits(limits, { rpm: 5 })).toBe(true)
    await pause(3000)
    expect(limits.isAlone).toBe(true)
    expect(lines.length).toBeLessThanOrEqual(2)
    await tell(first, 'REPLICAOF', 'NO', 'ONE')
    await until(() => !limits.isAlone, 10_000)
  })

  test('notices reach the instances that follow the new primary', TIMED, async () => {
    const { failOver, url } = await pair()
    const [one, other] = [await limitsAt(url, 'one'), await limitsAt(url, 'other')]
    const got: unknown[] = []
    const [from, to] = [one, other].map(
      ({ redis }, at) => new RedisBus(redis, `${at}`, { info() {}, warn() {}, error() {} }),
    )
    to!.subscribe('access', message => got.push(message))
    await until(() => {
      from!.publish('access', 'before')
      return got.includes('before')
    })
    await failOver()
    await Promise.all([one, other].map(({ limits }) => admits(limits, { rpm: 5 })))
    await until(() => [one, other].every(({ limits }) => !limits.isAlone), 10_000)
    await until(() => {
      from!.publish('access', 'after')
      return got.includes('after')
    }, 5000)
  })
})
