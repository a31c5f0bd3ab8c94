import { expect, test, vi } from 'vitest'
import { RedisLinks } from '../../src/commands/redis-links.ts'
import { SILENT } from '../../src/log.ts'
import { Hub } from '../../src/store/cluster/hub.ts'
import { configOf } from '../builders/config.ts'

test('the primary uses a new Redis with its new workers, and the former one again if they cannot start', async () => {
  const hub = new Hub(SILENT)
  const connected = vi.spyOn(hub, 'connect')
  const config = configOf([])
  const links = new RedisLinks(hub, config, SILENT)
  const former = links.limits
  const next = { ...config, redis: 'redis://127.0.0.1:9' }
  const fails = links.during(next, async () => {
    expect(links.limits).not.toBe(former)
    throw new Error('no worker starts')
  })
  await expect(fails).rejects.toThrow('no worker starts')
  expect(links.limits).toBe(former)
  await links.during({ ...config }, async () => expect(links.limits).toBe(former))
  const [first, second, third] = connected.mock.calls.map(([bus]) => bus)
  expect([connected.mock.calls.length, second === first, third === first]).toEqual([3, false, true])
  await links.during(next, async () => {})
  expect(links.limits).not.toBe(former)
  await links.close()
  hub.close()
})
