import { describe, expect, test } from 'vitest'
import { KeyLookups } from '../../src/accounts/key-lookups.ts'
import { KeyRing } from '../../src/accounts/key-ring.ts'
import { MemoryEngine } from '../../src/accounts/limits/engine.ts'
import { type LimitStep, Limits } from '../../src/accounts/limits/index.ts'
import { takeSteps } from '../../src/accounts/limits/remote-engine.ts'
import { networkOf, widerNetworkOf } from '../../src/accounts/network.ts'
import { WrongKeys } from '../../src/accounts/wrong-keys.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import { hashOf } from '../../src/config/hash.ts'
import { Proxies, type RequestSource } from '../../src/gateway/proxies/index.ts'
import { openSqlite } from '../../src/store/store.ts'
import { requestId } from '../../src/store/usage/request-id.ts'
import { closingAfterEach } from '../builders/closing.ts'
import { createKey } from '../builders/keys.ts'
import { random } from '../builders/random.ts'
import { TIMED } from '../builders/time.ts'

/*
 * Keys and their limits under attack: ids and names that are patterns, separators or names of other counts, steps whose
 * answers come in another order, addresses in every spelling, and numbers of keys and secrets that are far too large.
 */

const closing = closingAfterEach()

const NOW = Date.UTC(2026, 10, 22, 12)

/** Ids and names that mean something to somebody else. */
const HOSTILE: readonly string[] = [
  ...[
    'a',
    'a*',
    '*',
    '%',
    '_',
    'a%',
    'a_',
    'a.',
    'a:b',
    'a b',
    ' a',
    'a ',
    '{a}',
    'a}',
    '}{',
    '[]',
    '""',
    "' or 1=1 --",
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'a\n',
    'a\t',
    'A',
    '\u00e4',
    'a\u0308',
    '💥',
    'x'.repeat(200),
  ],
]

const stored = async () => {
  const store = await openSqlite(':memory:', () => NOW)
  closing.push(() => store.close())
  return store
}

const isRefused = async (work: () => unknown): Promise<boolean> => {
  try {
    await work()
    return false
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(GatewayError)
    return true
  }
}

describe('ids and names that are patterns, separators or names of other counts', () => {
  const ENGINES: readonly [string, () => Limits][] = [
    ['in this process', () => new Limits({ now: () => NOW })],
    [
      'in the primary',
      () => {
        const engine = new MemoryEngine(() => NOW)
        const ask = async (steps: readonly LimitStep[]) => takeSteps(engine, JSON.parse(JSON.stringify(steps)))
        return new Limits({ now: () => NOW, ask })
      },
    ],
  ]

  test.each(ENGINES)('share no request, token, slot and budget with any other (%s)', async (_, open) => {
    const limits = open()
    closing.push(() => limits.close())
    const settings = { rpm: 3, tpm: 1000, concurrent: 2, budget: { day: 1 } }
    for (const id of HOSTILE) {
      const [one, two] = [limits.of(id, settings), limits.of(id, settings)]
      await one.enter()
      await two.enter()
      expect(await isRefused(() => limits.of(id, settings).enter())).toBe(true)
      await one.reserve(
        () => ({ input: 100, output: 100 }),
        100,
        () => 1e9,
      )
      one.settle({ input: 500, output: 400 }, 1e9)
      two.leave()
      expect(await isRefused(() => limits.of(id, settings).enter())).toBe(true)
    }
  })

  test('spend and read only what they spent themselves', async () => {
    const { usage } = await stored()
    const rows = HOSTILE.map((key, at) => ({
      ...{ id: requestId(NOW, `${at}`.padStart(32, '0')), at: NOW, key, keyName: key, cost: at + 1, channel: 'c' },
      ...{ door: '/', format: 'chat', stream: false, attempts: 1, status: 200, losses: 0, duration: 1, model: key },
    }))
    await usage.add(rows)
    const byKey = await usage.spentByKey(HOSTILE, NOW)
    for (const [at, key] of HOSTILE.entries()) {
      expect(await usage.spent(key, NOW), key).toEqual({ day: at + 1, month: at + 1 })
      expect(byKey.get(key)?.day).toBe(at + 1)
      const query = { since: 0, until: NOW + 1, limit: 99 }
      const groups = await usage.sums({ ...query, by: ['key', 'model'], where: { key } })
      expect(groups.map(({ by, requests }) => [by.key, by.model, requests])).toEqual([[key, key, 1]])
      expect((await usage.rows({ ...query, where: { model: key } })).rows.map(({ key }) => key)).toEqual([key])
    }
    const all = await usage.sums({ since: 0, until: NOW + 1, limit: 99, by: ['key'], top: { count: 2, rank: 'cost' } })
    expect(all.map(({ others, requests }) => [others ?? false, requests])).toContainEqual([true, HOSTILE.length - 2])
  })

  test('with characters that no engine stores find their own spend', async () => {
    const { usage } = await stored()
    for (const key of ['a\0b', 'c\ud800', `${'y'.repeat(250)}`]) {
      await usage.add([
        ...[
          {
            ...({ id: requestId(NOW), at: NOW, key, cost: 7, door: '/', format: 'chat', stream: false } as const),
            ...{ attempts: 1, status: 200, losses: 0, duration: 1 },
          },
        ],
      ])
      expect(await usage.spent(key, NOW)).toEqual({ day: 7, month: 7 })
    }
  })

  test('name one key, one group and one channel in the store each', async () => {
    const { access } = await stored()
    const texts = new Map<string, string>()
    for (const name of HOSTILE) {
      texts.set(name, await createKey(access, name, { group: name }))
      await access.putGroup({ name, models: [name], limits: {}, onLoss: 'show', createdAt: 1 })
      expect(await access.drain(name, true)).toBe(true)
    }
    for (const name of HOSTILE) {
      expect((await access.keyNamed(name))?.name).toBe(name)
      expect((await access.keys({ limit: 9, name })).map(one => one.name)).toEqual([name])
      expect((await access.keys({ limit: 9, group: name })).map(one => one.group)).toEqual([name])
    }
    expect(await access.dropGroup('*')).toBe(true)
    expect(await access.drain('%', false)).toBe(true)
    const { groups, drained } = await access.changes(0)
    expect(groups.map(({ name }) => name).sort()).toEqual(HOSTILE.filter(name => name !== '*').sort())
    expect([...drained!].sort()).toEqual(HOSTILE.filter(name => name !== '%').sort())
  })

  test('of groups that do not exist give a key no group of that name', () => {
    const ring = new KeyRing()
    ring.configure([], new Map())
    for (const [at, group] of HOSTILE.entries()) {
      const text = `text ${at}`
      ring.putStored({ id: `${at}`, name: group, group, limits: {}, enabled: true, secrets: [{ hash: hashOf(text) }] })
      const found = ring.find(text, NOW)!
      expect([found.validUntil, found.caller, found.refusal.error.code]).toEqual([0, undefined, 'group_not_found'])
    }
  })
})

describe('steps whose answers come in another order', () => {
  /** A primary that applies steps in order, and whose answers take a random time. */
  function slowPrimary(seed: number) {
    const engine = new MemoryEngine(() => NOW)
    const next = random(seed)
    const turn = () => new Promise<void>(resolve => setImmediate(resolve))
    const ask = async (steps: readonly LimitStep[]) => {
      const states = await takeSteps(engine, steps)
      for (let turns = Math.floor(8 * next()); turns > 0; turns--) await turn()
      return states
    }
    return { engine, ask }
  }

  test.each([1, 2, 3, 4, 5])('leave no slot behind, and charge each request once (seed %i)', async seed => {
    const { engine, ask } = slowPrimary(seed)
    const limits = new Limits({ now: () => NOW, ask, spent: async () => ({ day: 0, month: 0 }) })
    closing.push(() => limits.close())
    const next = random(seed + 100)
    const settings = { tpm: 1e9, concurrent: 40, budget: { day: 1e6, month: 1e6 } }
    let charged = 0
    const request = async (): Promise<void> => {
      const one = limits.of('k', settings)
      try {
        await one.enter()
        if (next() < 0.8)
          await one.reserve(
            () => ({ input: 10 }),
            10,
            () => 5e6,
          )
        if (next() < 0.3) await one.cover(() => 9e6)
        const cost = Math.floor(1e7 * next())
        if (next() < 0.7) {
          one.settle({ input: 10, output: 5 }, cost)
          charged += cost
        } else one.settle({}, 0)
        // Whoever ends a request may do so twice.
        one.leave()
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(GatewayError)
        one.leave()
      }
    }
    await Promise.all(Array.from({ length: 400 }, request))
    await expect
      .poll(() => engine.spent('k', { day: 1e18, month: 1e18 }, NOW))
      .toMatchObject({ day: charged, month: charged })
    // A step that is awaited is sent after all others.
    await limits.of('other', { rpm: 1 }).enter()
    const all = await Promise.all(
      Array.from({ length: 41 }, async () => isRefused(() => limits.of('k', settings).enter())),
    )
    expect(all.filter(Boolean)).toHaveLength(1)
  })

  test('with a late answer of the store about earlier spend admit no more than the budget, and hold no slot', async () => {
    const gate = Promise.withResolvers<{ day: number; month: number }>()
    const limits = new Limits({ now: () => NOW, spent: () => gate.promise })
    closing.push(() => limits.close())
    const settings = { concurrent: 3, budget: { day: 1 } }
    const all = Array.from({ length: 6 }, () => limits.of('k', settings))
    const entered = all.map(one => isRefused(() => one.enter()))
    gate.resolve({ day: 5e8, month: 5e8 })
    const refused = await Promise.all(entered)
    expect(refused.filter(Boolean)).toHaveLength(3)
    const inside = all.filter((_, at) => refused[at] === false)
    const cost = () => 2e8
    const reserved = await Promise.all(inside.map(one => isRefused(() => one.reserve(() => ({ input: 1 }), 1, cost))))
    expect(reserved.filter(Boolean)).toHaveLength(1)
    for (const one of all) {
      one.settle({}, 0)
      one.leave()
    }
    for (let slot = 0; slot < 3; slot++) expect(await isRefused(() => limits.of('k', settings).enter())).toBe(false)
  })
})

describe('addresses in every spelling', () => {
  const SAME: readonly [network: string, spellings: readonly string[]][] = [
    [
      '203.0.113.9',
      [
        ...['203.0.113.9', '::ffff:203.0.113.9', '::FFFF:203.0.113.9', '::ffff:cb00:7109', '::ffff:CB00:7109'],
        ...[
          '0:0:0:0:0:ffff:203.0.113.9',
          '0:0:0:0:0:ffff:cb00:7109',
          '0000:0000::ffff:cb00:7109',
          '::0:ffff:203.0.113.9',
        ],
      ],
    ],
    [
      '2001:db8:0:1',
      [
        ...['2001:db8:0:1::', '2001:0db8:0000:0001:ffff:ffff:ffff:ffff', '2001:DB8:0:1::5', '2001:db8:0:1:0:0:1.2.3.4'],
        ...['2001:db8:0:1::1.2.3.4', '2001:db8:0:1::5%eth0'],
      ],
    ],
  ]

  test.each(SAME)('are one network: %s', (network, spellings) => {
    expect(spellings.map(networkOf)).toEqual(spellings.map(() => network))
    const isIpv4 = !network.includes(':')
    expect(new Set(spellings.map(widerNetworkOf))).toEqual(new Set([isIpv4 ? undefined : '2001:db8:0']))
  })

  test('that differ are different networks', () => {
    const addresses = [
      '::ffff:cb00:7109',
      '::ffff:cb00:710a',
      '::cb00:7109',
      '2001:db8:0:2::',
      '2001:db8:1:1::',
      '::',
      'fe80::1',
    ]
    expect(new Set(addresses.map(networkOf)).size).toBe(addresses.length - 1)
    expect(networkOf('::')).toBe(networkOf('::cb00:7109'))
  })

  test('let nobody look up more keys, and slow nobody else down', async () => {
    let reads = 0
    const lookups = new KeyLookups({
      ...{ refresh: async () => void reads++, now: () => 0, limits: { address: 5, all: 100 } },
    })
    for (const [, spellings] of SAME) for (const one of spellings) await lookups.lookUp(`${reads} ${one}`, one)
    expect(reads).toBe(10)
    const keys = new WrongKeys({ now: () => 0, delays: { address: 0, all: 10 } })
    let refusals = 0
    for (const one of SAME[0]![1]) await keys.slow(one).catch(() => refusals++)
    expect([keys.size, refusals]).toEqual([1, SAME[0]![1].length - 5])
    await keys.slow('203.0.113.10')
    expect(keys.size).toBe(2)
  })

  test('that a caller puts into headers count as little as its name', () => {
    const source = (remoteAddress: string, headers: RequestSource['headers']): RequestSource =>
      ({ headers, socket: { remoteAddress, localAddress: '127.0.0.1', localPort: 1 } }) as unknown as RequestSource
    const settings = { publicUrls: [], trustedProxies: ['10.0.0.0/8'] }
    const networkFrom = (proxies: Proxies, peer: string, headers: RequestSource['headers']): string =>
      networkOf(proxies.addressOf(source(peer, headers)))
    const forged = [
      '9.9.9.9',
      '::ffff:909:909',
      'unknown',
      '"',
      '9.9.9.9:1',
      '[::1]',
      '',
      ' ',
      '\u00a0',
      ','.repeat(500),
    ]
    for (const one of forged) {
      for (const headers of [{ 'x-forwarded-for': one }, { forwarded: `for=${one}` }, { 'x-real-ip': one }]) {
        expect(networkFrom(new Proxies({ ...settings, trustedProxies: [] }), '203.0.113.9', headers)).toBe(
          '203.0.113.9',
        )
        expect(networkFrom(new Proxies(settings), '203.0.113.9', headers)).toBe('203.0.113.9')
      }
      // A trusted proxy adds the address of its caller at the end.
      const header = { 'x-forwarded-for': `${one}, 203.0.113.9` }
      expect(networkFrom(new Proxies(settings), '10.0.0.1', header)).toBe('203.0.113.9')
    }
  })
})

describe('twice the keys take about twice the time', TIMED, () => {
  const growth = async (
    work: (count: number) => unknown,
    [small, large]: readonly [number, number] = [1500, 15_000],
  ): Promise<number> => {
    const timeOf = async (count: number): Promise<number> => {
      const began = performance.now()
      await work(count)
      return performance.now() - began
    }
    await timeOf(small)
    const before = await timeOf(small)
    return (await timeOf(large)) / Math.max(before, 2)
  }

  test('secrets of one key that is rotated and changed', async () => {
    const secretsOf = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ hash: hashOf(`${at}`), expiresAt: at }))
    const all = secretsOf(30_000)
    const groups = new Map([['g', { name: 'g', models: ['*'], limits: {}, onLoss: 'show' as const }]])
    const put = (count: number) => {
      const ring = new KeyRing()
      ring.configure([], groups)
      const key = { id: 'k', name: 'k', group: 'g', limits: {}, enabled: true, secrets: all.slice(0, count) }
      for (let time = 0; time < 4; time++) ring.putStored(key)
      ring.configure([], groups)
      ring.putStored({ ...key, secrets: key.secrets.slice(count / 2) })
      expect(ring.find(`${count - 1}`, 0)?.validUntil).toBe(count - 1)
      expect(ring.find('0', 0)).toBeUndefined()
    }
    expect(await growth(put, [1500, 30_000])).toBeLessThan(60)
  })

  test('counts of keys, their slots and the end of an owner', async () => {
    const work = (count: number) => {
      const engine = new MemoryEngine(() => NOW)
      const step = { requests: 1, tokens: 0, cost: 0, enforced: true, limits: { rpm: 1e9, concurrent: 1e9 } }
      for (let at = 0; at < count; at++) {
        engine.step({ ...step, key: `${at}`, enter: `a.${at.toString(36)}` })
        engine.step({ ...step, key: 'k', enter: `b.${at.toString(36)}` })
      }
      for (let at = 0; at < count; at += 2) engine.step({ ...step, key: 'k', leave: `b.${at.toString(36)}` })
      for (let owner = 0; owner < 5; owner++) engine.leaveAll(`${owner}`)
      engine.leaveAll('b')
      expect(engine.step({ ...step, key: 'k', limits: { concurrent: 1 }, enter: 'c.1' }).refused).toBeUndefined()
    }
    expect(await growth(work)).toBeLessThan(30)
  })

  test('reservations of more keys than are remembered', async () => {
    const work = (count: number) => {
      const limits = new Limits({ now: () => NOW })
      for (let at = 0; at < count; at++) {
        const one = limits.of(`${at}`, { rpm: 5, tpm: 1000, concurrent: 2 })
        void one.enter()
        one.settle({ input: 1, output: 1 })
      }
      limits.close()
    }
    // Both are more than are remembered: below that, nothing has to be forgotten.
    expect(await growth(work, [20_000, 100_000])).toBeLessThan(20)
  })

  test('wrong keys from more networks than are remembered', async () => {
    const work = (count: number) => {
      const keys = new WrongKeys({ now: () => 1 })
      const lookups = new KeyLookups({ refresh: async () => {}, now: () => 0 })
      for (let at = 0; at < count; at++) {
        const address = `2001:db8:${(at >> 16).toString(16)}:${(at & 65_535).toString(16)}::1`
        void keys.slow(address, `${at}`)
        void lookups.lookUp(`${at}`, address)
        lookups.rememberWrong(`${at}`)
      }
    }
    expect(await growth(work, [5000, 50_000])).toBeLessThan(30)
  })
})
