import { hash } from 'node:crypto'
import { createClient } from '@redis/client'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { LimitStep } from '../../../src/accounts/limits/engine.ts'
import { Limits } from '../../../src/accounts/limits/index.ts'
import { RedisCounts } from '../../../src/accounts/limits/redis-counts.ts'
import { SILENT } from '../../../src/log.ts'
import { OpenRedis, type RedisLink, type RedisScript } from '../../../src/store/cluster/redis.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { describeWithRedis, RedisServer } from '../../builders/redis.ts'
import { SOON, TIMED, until } from '../../builders/time.ts'
import { DAY, HOUR } from '../../builders/units.ts'

/* A Redis that others use, too, that is full, and whose clock is another than this machine's. */

const closing = closingAfterEach()
const START = Date.UTC(2026, 10, 22, 12)
const NOTHING = { requests: 0, tokens: 0, cost: 0, enforced: true } as const

const namesOf = (key: string) => [`interlingua:limits:{${key}}`, `interlingua:limits:{${key}}:places`] as const

describeWithRedis('limits in a hostile Redis', () => {
  let server: RedisServer
  let link: OpenRedis
  let client: ReturnType<typeof createClient>
  let run = 0

  beforeAll(async () => {
    server = await RedisServer.open()
    link = new OpenRedis(server.url, SILENT)
    await link.ready(5000)
    client = createClient({ url: server.url })
    await client.connect()
  })
  afterAll(async () => {
    client.destroy()
    await link.close()
    await server.close()
  })

  const command = (...words: string[]) => client.sendCommand(words)

  const countsOf = (to: RedisLink = link, now?: () => number): RedisCounts => {
    const counts = new RedisCounts(to, now)
    closing.push(() => counts.close())
    return counts
  }

  const limitsOf = async (options: ConstructorParameters<typeof Limits>[0] = {}): Promise<Limits> => {
    const limits = new Limits({ redis: link, ...options })
    closing.push(() => limits.close())
    return limits
  }

  /** Returns a link to a Redis with another clock. */
  const linkAt = (now: () => number): RedisLink => ({
    ...{ isUp: true, faults: 0, publish() {}, onConnected() {}, subscribe: () => () => {}, close: async () => {} },
    run({ source }: RedisScript, keys, args) {
      const [before, after] = source.split(/local time = .*\nlocal now = .*\n/)
      const timed = `${before}local now = tonumber(ARGV[#ARGV])\n${after!.replaceAll("'PEXPIRE'", "'EXISTS'")}`
      return link.run({ source: timed, sha: hash('sha1', timed) }, keys, [...args, `${now()}`])
    },
  })

  describe('values of other types under the same names', () => {
    const LIMITS = { rpm: 5, tpm: 100, concurrent: 1, day: 1e9, month: 1e10 }
    const initial = { day: 0, month: 0, at: Date.now() }
    const enter = (key: string): LimitStep => ({ ...NOTHING, key, limits: LIMITS, requests: 1, enter: 'o.1', initial })

    test.each<[string, (counts: string, slots: string) => readonly (readonly string[])[]]>([
      [
        'strings',
        (counts, slots) => [
          ['SET', counts, 'x'],
          ['SET', slots, 'x'],
        ],
      ],
      [
        'lists',
        (counts, slots) => [
          ['RPUSH', counts, 'x'],
          ['RPUSH', slots, 'x'],
        ],
      ],
      [
        'each other',
        (counts, slots) => [
          ['ZADD', counts, '1', 'x'],
          ['HSET', slots, 'r', '1'],
        ],
      ],
      [
        'fields that are no numbers',
        counts => [['HSET', counts, 'r', 'x', 'rl', 'y', 'ra', 'z', 'd', '{}', 'dp', '[]', 't', '']],
      ],
      [
        'fields that are no finite numbers',
        counts => [
          ['HSET', counts, 'r', 'nan', 'rl', 'inf', 'ra', '-inf', 'd', 'nan', 'dp', 'nan', 'm', '-inf', 'mp', 'inf'],
        ],
      ],
      [
        'fields without their partners',
        counts => [['HSET', counts, 'r', '1', 'ta', '5', 'd', '7', 'mp', '3', 'db', '1', 'mbp', '2']],
      ],
      ['slots that never end', (_, slots) => [['ZADD', slots, 'inf', 'somebody']]],
    ])('%s end no count of this key, nor of another', async (_, commands) => {
      const key = `types${run++}`
      const [counts, slots] = namesOf(key)
      for (const words of commands(counts, slots)) await command(...words)
      const engine = countsOf()
      const state = await engine.step(enter(key))
      // A slot that never ends is taken, but no longer than a lease.
      if (state.refused?.limit === 'concurrent')
        expect(Number(await command('ZSCORE', slots, 'somebody'))).toBeLessThan(Date.now() + 60_000)
      else expect(state).toMatchObject({ refused: undefined, requests: 4 })
      await engine.probe()
      expect(
        await engine.step({ ...NOTHING, enforced: false, key, limits: LIMITS, cost: 5, leave: 'o.1' }),
      ).toMatchObject({
        refused: undefined,
      })
      engine.leaveAll('o')
      await engine.probe()
    })

    test('of one key leave the counts of all keys in Redis', async () => {
      const key = `poisoned${run++}`
      const [counts, slots] = namesOf(key)
      await command('SET', counts, 'x')
      await command('SET', slots, 'x')
      const limits = await limitsOf()
      await limits.of(key, { rpm: 5, concurrent: 2 }).enter()
      expect([limits.isAlone, limits.missed]).toEqual([false, 0])
    })
  })

  test('keys, slots and owners with other characters count alone', async () => {
    const engine = countsOf()
    const ODD = [
      'a}{b',
      '\u0000',
      'a\r\nFLUSHALL\r\n',
      '*',
      '[a-z]*',
      '😀\ud800',
      '{',
      ' ',
      'x'.repeat(100_000),
      '__proto__',
      '-inf',
      '(1',
    ]
    const step = (key: string, name: string): LimitStep => ({
      ...NOTHING,
      key,
      limits: { rpm: 3, concurrent: 1 },
      requests: 1,
      enter: name,
    })
    for (const [at, key] of ODD.entries()) {
      expect((await engine.step(step(`${run}${key}`, `o.${at}`))).requests).toBe(2)
      expect((await engine.step(step(`${run}${key}`, `${key}.1`))).refused?.limit).toBe('concurrent')
    }
    for (const owner of ODD) {
      const key = `${run}owned`
      await engine.step(step(key, `${owner}.1`))
      engine.leaveAll(`${owner.slice(0, -1)}`)
      await engine.probe()
      if (owner.length > 1) expect(await client.zCard(namesOf(key)[1])).toBe(1)
      await engine.step({ ...NOTHING, enforced: false, key, limits: { concurrent: 1 }, leave: `${owner}.1` })
      await command('DEL', ...namesOf(key))
    }
    run++
  })

  test('the largest amounts stay numbers, and nobody is refused for ever', async () => {
    const engine = countsOf()
    const key = `large${run++}`
    const limits = { rpm: Number.MAX_SAFE_INTEGER, tpm: 1e15, day: 9e15, month: 9e15 }
    const initial = { day: 9e15, month: 0, at: Date.now() }
    for (const cost of [1e14, -1e15, 1e18, -1e18])
      await engine.step({ ...NOTHING, enforced: false, key, limits, tokens: 1e15, cost, initial })
    const state = await engine.step({ ...NOTHING, key, limits, requests: 1, tokens: 1, initial })
    expect([state.requests, state.tokens].every(Number.isFinite)).toBe(true)
    for (const value of await client.hVals(namesOf(key)[0])) expect(Number.isFinite(Number(value)), value).toBe(true)
  })

  test('thousands of slots of one key are one set, renewed and released in batches', TIMED, async () => {
    const engine = countsOf()
    const key = `many${run++}`
    const step: LimitStep = { ...NOTHING, key, limits: { concurrent: 1e6 } }
    for (let from = 0; from < 3000; from += 100)
      await Promise.all(Array.from({ length: 100 }, (_, at) => engine.step({ ...step, enter: `many.${from + at}` })))
    const began = performance.now()
    await engine.probe()
    engine.leaveAll('many')
    await vi.waitFor(async () => expect(await client.zCard(namesOf(key)[1])).toBe(0), SOON)
    expect(performance.now() - began).toBeLessThan(3000)
    expect(link.isUp).toBe(true)
  })

  describe('steps that arrive twice or in another order', () => {
    const settings = { concurrent: 2 }
    test('take and release one slot once', async () => {
      const [one, other] = [countsOf(), countsOf()]
      const step: LimitStep = { ...NOTHING, key: `twice${run++}`, limits: settings }
      const slots = namesOf(step.key)[1]
      await Promise.all([one, other, one].map(engine => engine.step({ ...step, enter: 'o.1' })))
      expect(await client.zCard(slots)).toBe(1)
      expect((await other.step({ ...step, enter: 'o.2' })).refused).toBeUndefined()
      for (const engine of [one, other, one]) await engine.step({ ...step, enforced: false, leave: 'o.1' })
      expect(await client.zCard(slots)).toBe(1)
      expect((await one.step({ ...step, enter: 'o.3' })).refused).toBeUndefined()
    })

    test('a settlement before its reservation corrects no other key, and adds nothing twice', async () => {
      const engine = countsOf()
      const key = `order${run++}`
      const limits = { day: 1000 }
      const initial = { day: 100, month: 0, at: Date.now() }
      const step: LimitStep = { ...NOTHING, key, limits, initial }
      await engine.step({ ...step, enforced: false, cost: -50 })
      await engine.step({ ...step, cost: 200 })
      expect(Number(await client.hGet(namesOf(key)[0], 'd'))).toBe(250)
      expect((await engine.step({ ...step, cost: 800 })).refused?.limit).toBe('day')
    })
  })

  describe('clocks that differ', () => {
    const limits = { day: 1000, month: 10_000 }
    /** Reserves and settles at an instance whose clock differs from Redis's, and returns what Redis counts. */
    async function spend(redisAt: number, difference: number): Promise<readonly (number | undefined)[]> {
      const key = `clock${run++}`
      let now = redisAt
      const engine = countsOf(
        linkAt(() => now),
        () => now + difference,
      )
      const initial = { day: 0, month: 0, at: now }
      const reservedAt = now + difference
      await engine.step({ ...NOTHING, key, limits, cost: 10, initial })
      now += 5000
      await engine.step({ ...NOTHING, key, limits, cost: 290, reservedAt, enforced: false })
      const [day, month] = await client.hmGet(namesOf(key)[0], ['d', 'm'])
      return [day, month].map(Number)
    }

    const differences = [0, 2000, -2000, 10 * 60_000, -10 * 60_000, 26 * HOUR, -26 * HOUR, 400 * DAY, -400 * DAY]
    const MIDNIGHT = Date.UTC(2026, 11, 1)
    test.each(differences)('by %d ms, every cost is charged, to the day and the month of Redis', async difference => {
      for (const at of [START, MIDNIGHT - 60_000, MIDNIGHT + 1000])
        expect(await spend(at, difference), new Date(at).toISOString()).toEqual([300, 300])
    })

    test('of two instances share one budget, one minute and one set of slots', async () => {
      const key = `shared${run++}`
      const redis = linkAt(() => START)
      const [ahead, behind] = [countsOf(redis, () => START + 400 * DAY), countsOf(redis, () => START - 400 * DAY)]
      const initial = { day: 0, month: 0, at: START }
      const step: LimitStep = { ...NOTHING, key, limits: { ...limits, rpm: 3, concurrent: 2 }, initial }
      expect((await ahead.step({ ...step, requests: 1, cost: 600, enter: 'a.1' })).refused).toBeUndefined()
      expect((await behind.step({ ...step, requests: 1, cost: 600 })).refused?.limit).toBe('day')
      expect((await behind.step({ ...step, requests: 1, cost: 300, enter: 'b.1' })).refused).toBeUndefined()
      expect((await ahead.step({ ...step, requests: 1, enter: 'a.2' })).refused?.limit).toBe('concurrent')
      expect((await ahead.step({ ...step, requests: 1 })).requests).toBe(0)
      expect((await behind.step({ ...step, requests: 1 })).refused?.limit).toBe('requests')
    })

    test('of Redis itself, set back by a year: slots of dead instances end with a lease', async () => {
      const key = `back${run++}`
      let now = START
      const redis = linkAt(() => now)
      const [dead, alive] = [countsOf(redis), countsOf(redis)]
      const step: LimitStep = { ...NOTHING, key, limits: { concurrent: 1 } }
      await dead.step({ ...step, enter: 'dead.1' })
      now -= 365 * DAY
      expect((await alive.step({ ...step, enter: 'alive.1' })).refused?.limit).toBe('concurrent')
      now += 60_000
      expect((await alive.step({ ...step, enter: 'alive.1' })).refused).toBeUndefined()
    })

    test('of Redis itself, set back over midnight: no budget starts anew and none is used up', async () => {
      const key = `over${run++}`
      let now = MIDNIGHT - 60_000
      const engine = countsOf(
        linkAt(() => now),
        () => now,
      )
      const step: LimitStep = { ...NOTHING, key, limits: { day: 1000 }, initial: { day: 0, month: 0, at: now } }
      await engine.step({ ...step, cost: 900 })
      now += 120_000
      expect((await engine.step({ ...step, cost: 900 })).refused).toBeUndefined()
      now -= 120_000
      expect((await engine.step({ ...step, cost: 200 })).refused?.limit).toBe('day')
      expect((await engine.step({ ...step, cost: 50 })).refused).toBeUndefined()
    })
  })
})

describeWithRedis('a Redis that is full', () => {
  test('counts nothing, refuses nobody, and is used again when it has room', TIMED, async () => {
    const server = await RedisServer.open('--maxmemory-policy', 'noeviction')
    closing.push(() => server.close())
    const link = new OpenRedis(server.url, SILENT)
    closing.push(() => link.close())
    await link.ready(5000)
    const client = createClient({ url: server.url })
    closing.push(() => client.destroy())
    await client.connect()
    const limits = new Limits({ redis: link })
    closing.push(() => limits.close())
    const settings = { rpm: 4, concurrent: 3, budget: { day: 1 } }
    await limits.of('k', settings).enter()
    expect(limits.isAlone).toBe(false)
    const setRoom = (bytes: string) => client.sendCommand(['CONFIG', 'SET', 'maxmemory', bytes])
    await setRoom('1')
    // Otherwise every refusal, which changes nothing here either, would count as the end of the outage.
    const counts = new RedisCounts(link)
    closing.push(() => counts.close())
    await expect(counts.probe()).rejects.toThrow('OOM')
    const held = limits.of('k', settings)
    await held.enter()
    await limits.of('other', { rpm: 4 }).enter()
    expect([limits.isAlone, limits.missed > 0]).toEqual([true, true])
    held.leave()
    await setRoom('0')
    await until(() => !limits.isAlone)
    const missed = limits.missed
    await limits.of('k', settings).enter()
    expect(limits.missed).toBe(missed)
  })
})

describeWithRedis('notices of other programs', () => {
  test('change nothing, whatever they hold', async () => {
    const { RedisBus, TOPICS } = await import('../../../src/store/cluster/bus.ts')
    const server = await RedisServer.open()
    closing.push(() => server.close())
    const lines: string[] = []
    const log = { info() {}, warn() {}, error: (_: object, message: string) => void lines.push(message) }
    const link = new OpenRedis(server.url, SILENT)
    closing.push(() => link.close())
    await link.ready(5000)
    const bus = new RedisBus(link, 'me', log)
    closing.push(() => bus.close())
    const got: unknown[] = []
    for (const topic of TOPICS) bus.subscribe(topic, message => got.push(message))
    const client = createClient({ url: server.url })
    closing.push(() => client.destroy())
    await client.connect()
    const all = (message: string | Buffer) =>
      Promise.all(TOPICS.map(topic => client.sendCommand(['PUBLISH', `interlingua:${topic}`, message])))
    await until(() => {
      void client.publish('interlingua:access', '{"from":"other","message":"ready"}')
      return got.includes('ready')
    })
    for (const garbage of [
      '',
      '{',
      'null',
      '[]',
      '7',
      '"x"',
      '{"from":"me","message":1}',
      '{"message":',
      '\u0000',
      '[['.repeat(100_000),
      'x'.repeat(2 ** 22),
    ])
      await all(garbage)
    await all(Buffer.from([0xff, 0xfe, 0x00, 0x80]))
    await all('{"__proto__":{"message":1},"from":"x"}')
    await all('{"from":"other","message":"last"}')
    await until(() => got.filter(one => one === 'last').length === TOPICS.length)
    expect(got.filter(one => one !== 'ready' && one !== 'last')).toEqual([])
    expect(lines).toEqual([])
  })
})
