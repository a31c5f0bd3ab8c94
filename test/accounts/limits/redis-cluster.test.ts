import { createClient } from '@redis/client'
import { expect, test } from 'vitest'
import { Limits } from '../../../src/accounts/limits/index.ts'
import { RedisCounts } from '../../../src/accounts/limits/redis-counts.ts'
import { SILENT } from '../../../src/log.ts'
import { OpenRedis } from '../../../src/store/cluster/redis.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { describeWithRedis, RedisServer } from '../../builders/redis.ts'
import { TIMED, until } from '../../builders/time.ts'

/* A managed Redis may be a cluster of a single node. It refuses scripts whose keys are in several hash slots. */

describeWithRedis('a Redis cluster of one node', () => {
  const closing = closingAfterEach()

  test('renews and releases the slots of several keys, and is used again after an outage', TIMED, async () => {
    const server = await RedisServer.open('--cluster-enabled', 'yes')
    closing.push(() => server.close())
    const client = createClient({ url: server.url })
    await client.connect()
    closing.push(() => client.destroy())
    await client.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383'])
    await expect.poll(() => client.sendCommand(['CLUSTER', 'INFO'])).toContain('cluster_state:ok')

    const link = new OpenRedis(server.url, SILENT)
    closing.push(() => link.close())
    await link.ready(5000)
    const counts = new RedisCounts(link)
    closing.push(() => counts.close())
    const step = { limits: { concurrent: 2 }, requests: 0, tokens: 0, cost: 0, enforced: true }
    const keys = ['one', 'two', 'three']
    const slotsOf = (key: string) => `interlingua:limits:{${key}}:places`
    for (const key of keys) await counts.step({ ...step, key, enter: `me.${key}` })
    for (const key of keys) await client.sendCommand(['ZADD', slotsOf(key), '1', `me.${key}`])
    await counts.probe()
    for (const key of keys)
      expect(Number(await client.sendCommand(['ZSCORE', slotsOf(key), `me.${key}`]))).toBeGreaterThan(1)
    counts.leaveAll('me')
    await expect.poll(() => client.sendCommand(['DBSIZE'])).toBe(0)

    const limits = new Limits({ redis: link })
    closing.push(() => limits.close())
    for (const key of keys) await limits.of(key, step.limits).enter()
    server.pause()
    await limits.of('one', step.limits).enter()
    expect(limits.isAlone).toBe(true)
    server.resume()
    await until(() => !limits.isAlone)
  })
})
