import fc from 'fast-check'
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

/** A step of the law below: a slot is taken or released, all are renewed, or a process ends. */
const eventOf = fc.oneof(
  fc.record({ kind: fc.constant('enter' as const), key: fc.nat(4), owner: fc.nat(2), slot: fc.nat(9) }),
  fc.record({ kind: fc.constant('leave' as const), key: fc.nat(4), owner: fc.nat(2), slot: fc.nat(9) }),
  fc.record({ kind: fc.constant('probe' as const) }),
  fc.record({ kind: fc.constant('end' as const), owner: fc.nat(2) }),
)

/** The part of a name by which a cluster selects a node. */
const tagOf = (name: string): string => /\{(.+?)\}/.exec(name)?.[1] ?? name

it('runs no script over several hash slots, which a cluster refuses', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(eventOf, { maxLength: 30 }), async events => {
      const refused: (readonly string[])[] = []
      const link: Pick<RedisLink, 'isUp' | 'run' | 'onConnected'> = {
        isUp: true,
        onConnected: () => {},
        async run(_, keys) {
          if (new Set(keys.map(tagOf)).size > 1) refused.push(keys)
          return [0, '', '', 0, 0, 0, 0, 0]
        },
      }
      const counts = new RedisCounts(link as RedisLink)
      for (const event of events) {
        if (event.kind === 'probe') await counts.probe()
        else if (event.kind === 'end') counts.leaveAll(`o${event.owner}`)
        else {
          const { kind, key, owner, slot } = event
          const step = { key: `k${key}`, limits: { concurrent: 9 }, requests: 0, tokens: 0, cost: 0, enforced: true }
          counts.noteOwner(`o${owner}`, step.key)
          await counts.step({ ...step, [kind]: `o${owner}.${slot}` })
        }
      }
      counts.close()
      expect(refused).toEqual([])
    }),
  )
})
