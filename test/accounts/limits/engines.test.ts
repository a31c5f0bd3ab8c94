import { hash } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type LimitState, MemoryEngine } from '../../../src/accounts/limits/engine.ts'
import { RedisCounts } from '../../../src/accounts/limits/redis-counts.ts'
import { PROBE } from '../../../src/accounts/limits/redis-script.ts'
import { PrimaryCounts, takeSteps } from '../../../src/accounts/limits/remote-engine.ts'
import { OpenRedis, type RedisLink, type RedisScript } from '../../../src/store/cluster/redis.ts'
import { happenings, taken } from '../../builders/limit-steps.ts'
import { describeWithRedis, RedisServer } from '../../builders/redis.ts'
import { TIMED, until } from '../../builders/time.ts'

const START = Date.UTC(2026, 10, 22, 12)
const SILENT = { info() {}, warn() {}, error() {} }

/** Rounds levels and waits to a thousandth of a unit for the comparison. */
const near = (value: number | undefined) => (value === undefined ? undefined : expect.closeTo(value, 3))
const like = ({ refused, unknown, requests, tokens }: LimitState) => ({
  refused: refused && { ...refused, wait: near(refused.wait) },
  unknown,
  requests: near(requests),
  tokens: near(tokens),
})
const whole = ({ refused, unknown, requests, tokens }: LimitState) => ({ refused, unknown, requests, tokens })

it('a worker that asks the primary has the same counts', async () => {
  await fc.assert(
    fc.asyncProperty(happenings('k'), async list => {
      let now = START
      const model = new MemoryEngine(() => now)
      const primary = new MemoryEngine(() => now)
      const worker = new PrimaryCounts(async steps =>
        JSON.parse(JSON.stringify(await takeSteps(primary, JSON.parse(JSON.stringify(steps))))),
      )
      for (const one of list) {
        const { step, ...at } = taken(one, now)
        now = at.now
        expect(whole(await worker.step(step))).toEqual(like(model.step(step)))
      }
    }),
    { numRuns: 50 },
  )
})

describeWithRedis('the script of Redis', () => {
  let server: RedisServer
  let link: RedisLink & { ready(milliseconds: number): Promise<void> }
  let run = 0

  beforeAll(async () => {
    server = await RedisServer.open()
    link = new OpenRedis(server.url, SILENT)
    await link.ready(5000)
  })
  afterAll(async () => {
    await link.close()
    await server.close()
  })

  /** A Redis link with a controlled clock and leases that outlast the test. */
  const linkAt = (now: () => number): RedisLink => ({
    ...{ isUp: true, faults: 0, publish() {}, onConnected() {}, subscribe: () => () => {}, close: async () => {} },
    run(script: RedisScript, keys, args) {
      if (script === PROBE) return link.run(script, keys, args)
      const { source } = script
      const [before, after] = source.split(/local time = .*\nlocal now = .*\n/)
      if (after === undefined) throw new Error('the script reads the time in another way')
      const timed = `${before}local now = tonumber(ARGV[#ARGV])\n${after.replaceAll("'PEXPIRE'", "'EXISTS'")}`
      return link.run({ source: timed, sha: hash('sha1', timed) }, keys, [...args, `${now()}`])
    },
  })

  it('counts as the memory does', TIMED, async () => {
    let refusals = 0
    await fc.assert(
      fc.asyncProperty(happenings('k'), async list => {
        let now = START
        const key = `k${run++}`
        const model = new MemoryEngine(() => now)
        const counts = new RedisCounts(
          linkAt(() => now),
          () => now,
        )
        for (const one of list) {
          const { step, ...at } = taken(one, now)
          now = at.now
          const theirs = await counts.step({ ...step, key })
          expect(whole(theirs)).toEqual(like(model.step({ ...step, key })))
          if (theirs.refused !== undefined) refusals++
        }
        counts.close()
      }),
      { numRuns: 150 },
    )
    expect(refusals).toBeGreaterThan(50)
  })

  it('has the places again at once where Redis lost what it held', TIMED, async () => {
    const counts = new RedisCounts(link)
    const step = { key: 'held', limits: { concurrent: 1 }, requests: 0, tokens: 0, cost: 0, enforced: true }
    expect((await counts.step({ ...step, enter: 'o.1' })).refused).toBeUndefined()
    await server.stop()
    await until(() => !link.isUp)
    await server.start()
    await until(() => link.isUp)
    expect((await counts.step({ ...step, enter: 'o.2' })).refused?.limit).toBe('concurrent')
    counts.close()
  })

  it('forgets a key when its counts are those of a new one', TIMED, async () => {
    const counts = new RedisCounts(link)
    const step = { key: `idle${run}`, tokens: 0, cost: 0, enforced: true }
    await counts.step({ ...step, limits: { rpm: 600, concurrent: 3 }, requests: 5, enter: 'o.1' })
    const ttl = async (name: string) =>
      Number(
        await link.run(
          { source: `return redis.call('PTTL', KEYS[1]) -- ${name}`, sha: name },
          [`interlingua:limits:{idle${run}}${name}`],
          [],
        ),
      )
    expect(await ttl('')).toBeGreaterThan(50_000)
    expect(await ttl('')).toBeLessThan(61_000)
    expect(await ttl(':places')).toBeGreaterThan(40_000)
    expect(await ttl(':places')).toBeLessThan(100_000)
    counts.close()
  })

  it('gives the places of an instance that died back within a minute', TIMED, async () => {
    let now = START
    const [dead, alive] = [new RedisCounts(linkAt(() => now)), new RedisCounts(linkAt(() => now))]
    const enter = (counts: RedisCounts, name: string) =>
      counts.step({
        ...{
          key: `leases${run}`,
          limits: { concurrent: 2 },
          requests: 0,
          tokens: 0,
          cost: 0,
          enforced: true,
          enter: name,
        },
      })
    await enter(dead, 'dead.1')
    expect((await enter(alive, 'alive.1')).refused).toBeUndefined()
    expect((await enter(alive, 'alive.2')).refused).toMatchObject({ limit: 'concurrent' })
    now += 30_000
    await alive.probe()
    now += 29_000
    expect((await enter(alive, 'alive.2')).refused).toBeUndefined()
    expect((await enter(alive, 'alive.3')).refused).toMatchObject({ limit: 'concurrent' })
    dead.close()
    alive.close()
  })
})
