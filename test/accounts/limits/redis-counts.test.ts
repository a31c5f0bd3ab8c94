import { expect, it } from 'vitest'
import { RedisCounts } from '../../../src/accounts/limits/redis-counts.ts'
import { RENEW } from '../../../src/accounts/limits/redis-script.ts'
import type { RedisLink } from '../../../src/store/cluster/redis.ts'

it('renews no place that was given back while others were renewed', async () => {
  const renewed: string[][] = []
  const link: Pick<RedisLink, 'isUp' | 'run' | 'onConnected'> = {
    isUp: true,
    onConnected: () => {},
    async run(script, _, values) {
      if (script !== RENEW) return [0, '', '', 0, 0, 0, 0, 0]
      renewed.push(values.slice(1))
      await Promise.resolve()
      return values.length
    },
  }
  const counts = new RedisCounts(link as RedisLink)
  const step = { key: 'k', limits: { concurrent: 5000 }, requests: 0, tokens: 0, cost: 0 }
  const names = Array.from({ length: 1500 }, (_, index) => `o.${index}`)
  for (const enter of names) await counts.step({ ...step, enter, enforced: true })
  const probing = counts.probe()
  await counts.step({ ...step, leave: 'o.1200', enforced: false })
  await probing
  counts.close()
  expect(renewed.flat()).toEqual(names.filter(name => name !== 'o.1200'))
})
