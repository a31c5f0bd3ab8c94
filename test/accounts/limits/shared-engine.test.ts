import { afterEach, beforeEach, expect, it } from 'vitest'
import { type LimitState, type LimitStep, MemoryEngine } from '../../../src/accounts/limits/engine.ts'
import { Limits } from '../../../src/accounts/limits/index.ts'
import { type AskSteps, takeSteps } from '../../../src/accounts/limits/remote-engine.ts'
import { type SharedCounts, SharedEngine } from '../../../src/accounts/limits/shared-engine.ts'
import type { LimitSettings } from '../../../src/config/index.ts'
import { OpenRedis } from '../../../src/store/cluster/redis.ts'
import { describeWithRedis, RedisServer } from '../../builders/redis.ts'
import { pause, TIMED, until } from '../../builders/time.ts'

const SILENT = { info() {}, warn() {}, error() {} }
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Limits that record their log lines. */
function limitsWith(options: ConstructorParameters<typeof Limits>[0]): { limits: Limits; lines: string[] } {
  const lines: string[] = []
  const note = (_: object, message: string) => void lines.push(message)
  const limits = new Limits({ ...options, log: { info: note, warn: note, error: note } })
  closing.push(() => limits.close())
  return { limits, lines }
}

/** Returns how many of `count` concurrent requests are admitted, spread over the instances. */
async function admitted(instances: readonly Limits[], count: number, settings: LimitSettings): Promise<number> {
  const asked = Array.from({ length: count }, async (_, index) =>
    instances[index % instances.length]!.of('k', settings).enter(),
  )
  const results = await Promise.allSettled(asked)
  for (const one of results) if (one.status === 'rejected') expect(one.reason.error?.kind).toBe('rate-limited')
  return results.filter(({ status }) => status === 'fulfilled').length
}

describeWithRedis('instances that share a Redis', () => {
  let server: RedisServer
  beforeEach(async () => {
    server = await RedisServer.open()
    closing.push(() => server.close())
  })

  async function instance(options: ConstructorParameters<typeof Limits>[0] = {}) {
    const redis = new OpenRedis(server.url, SILENT)
    await redis.ready(5000)
    closing.push(() => redis.close())
    return limitsWith({ redis, ...options })
  }

  it('admit exactly the allowed number of a thousand concurrent requests', TIMED, async () => {
    const instances = [(await instance()).limits, (await instance()).limits]
    for (const one of instances) await one.of('first', { rpm: 1000 }).enter()
    const began = Date.now()
    const count = await admitted(instances, 1000, { rpm: 100 })
    const refill = Math.ceil(((Date.now() - began) / 60_000) * 100)
    expect(count).toBeGreaterThanOrEqual(100)
    expect(count).toBeLessThanOrEqual(100 + refill)
    expect(instances.map(({ missed }) => missed)).toEqual([0, 0])
  })

  it('share slots, budgets and known spending', TIMED, async () => {
    let reads = 0
    const spent = async () => {
      reads++
      return { day: 5e8, month: 5e8 }
    }
    const [one, other] = [(await instance({ spent })).limits, (await instance({ spent })).limits]
    expect(await admitted([one, other], 50, { concurrent: 7 })).toBe(7)
    const settings = { budget: { day: 1 } }
    const reserve = async (limits: Limits, cost: number) => {
      const allowance = limits.of('paying', settings)
      await allowance.enter()
      await allowance.reserve(
        () => ({ input: 1 }),
        1,
        () => cost,
      )
      return allowance
    }
    const first = await reserve(one, 4e8)
    await expect(reserve(other, 2e8)).rejects.toThrow('budget')
    first.settle({ input: 1 }, 1e8)
    await reserve(other, 2e8)
    expect(reads).toBe(1)
  })

  it('release slots when requests end, whatever happens', TIMED, async () => {
    const [one, other] = [(await instance()).limits, (await instance()).limits]
    const settings = { concurrent: 3 }
    for (let round = 0; round < 20; round++) {
      const held = [one.of('k', settings), other.of('k', settings), one.of('k', settings)]
      await Promise.all(held.map(allowance => allowance.enter()))
      await expect(other.of('k', settings).enter()).rejects.toThrow('concurrent requests')
      held[0]!.leave()
      held[1]!.settleUncounted()
      held[2]!.settle({ input: 1 })
      await pause(5)
    }
  })

  it(
    'count for themselves at once when Redis stops, refuse nobody for it, and are together again by themselves',
    TIMED,
    async () => {
      const { limits, lines } = await instance()
      const settings = { rpm: 1000, concurrent: 500, budget: { day: 1 } }
      const before = limits.of('k', settings)
      await before.enter()
      await before.reserve(
        () => ({ input: 1 }),
        1,
        () => 3e8,
      )
      await server.stop()
      const began = Date.now()
      for (let asked = 0; asked < 50; asked++) {
        const allowance = limits.of('k', settings)
        await allowance.enter()
        await allowance.reserve(
          () => ({ input: 1 }),
          1,
          () => 1e6,
        )
        allowance.settle({ input: 1 }, 2e6)
      }
      expect(Date.now() - began).toBeLessThan(1000)
      expect(limits.isAlone).toBe(true)
      expect(limits.missed).toBeGreaterThanOrEqual(100)
      // The Redis link logs the outage.
      expect(lines).toEqual([])
      const held = limits.of('k', settings)
      await held.enter()
      await server.start()
      await until(() => !limits.isAlone)
      const missed = limits.missed
      held.leave()
      before.leave()
      await limits.of('k', settings).enter()
      expect(limits.missed).toBe(missed)
    },
  )

  it('wait once, for a quarter of a second, for a Redis that does not answer', TIMED, async () => {
    const { limits } = await instance()
    await limits.of('k', { rpm: 100 }).enter()
    server.pause()
    const began = Date.now()
    expect(await admitted([limits], 20, { rpm: 100 })).toBe(20)
    expect(Date.now() - began).toBeLessThan(1500)
    const again = Date.now()
    expect(await admitted([limits], 20, { rpm: 100 })).toBe(20)
    expect(Date.now() - again).toBeLessThan(100)
    server.resume()
    await until(() => !limits.isAlone)
  })

  it('leave no slot occupied by a request whose step was answered too late', async () => {
    const { limits } = await instance()
    const settings = { concurrent: 1 }
    const first = limits.of('k', settings)
    await first.enter()
    first.leave()
    await pause(20)
    server.pause()
    const late = limits.of('k', settings)
    await late.enter()
    server.resume()
    await until(() => !limits.isAlone)
    late.leave()
    const next = limits.of('k', settings)
    await next.enter()
    next.leave()
  })

  it('report to Redis later what was spent while it did not answer', async () => {
    const { limits } = await instance()
    const settings = { budget: { day: 1 } }
    await limits.of('k', settings).enter()
    server.pause()
    await limits.of('k', settings).enter()
    const spending = limits.of('k', settings)
    await spending.enter()
    spending.settle({ input: 1 }, 2e9)
    server.resume()
    await until(() => !limits.isAlone)
    await expect(limits.of('k', settings).enter()).rejects.toThrow('budget')
  })
})

/** The primary's counts as seen by workers, with a switch that makes them fail. */
function primary() {
  const engine = new MemoryEngine()
  const state = { fails: false, asked: 0 }
  const ask: AskSteps = async steps => {
    state.asked++
    await pause(1)
    if (state.fails) throw new Error('no primary')
    return JSON.parse(JSON.stringify(await takeSteps(engine, steps as LimitStep[]))) as LimitState[]
  }
  return { engine, state, ask }
}

it('workers share the primary’s counts, and send the steps of one turn together', async () => {
  const { state, ask } = primary()
  const workers = [limitsWith({ ask, owner: 'w1' }).limits, limitsWith({ ask, owner: 'w2' }).limits]
  expect(await admitted(workers, 400, { rpm: 100 })).toBe(100)
  expect(state.asked).toBe(2)
})

it('slots of a worker that died are released', async () => {
  const { engine, ask } = primary()
  const [one, other] = [limitsWith({ ask, owner: 'w1' }).limits, limitsWith({ ask, owner: 'w2' }).limits]
  expect(await admitted([one], 5, { concurrent: 3 })).toBe(3)
  expect(await admitted([other], 1, { concurrent: 3 })).toBe(0)
  engine.leaveAll('w')
  expect(await admitted([other], 1, { concurrent: 3 })).toBe(0)
  engine.leaveAll('w1')
  expect(await admitted([other], 5, { concurrent: 3 })).toBe(3)
})

it('a worker without a primary counts alone, and later tells the primary which slots are free', async () => {
  const { state, ask } = primary()
  const { limits, lines } = limitsWith({ ask, owner: 'w1' })
  const settings = { concurrent: 2 }
  const held = [limits.of('k', settings), limits.of('k', settings)]
  for (const one of held) await one.enter()
  state.fails = true
  const here = limits.of('k', settings)
  await here.enter()
  for (const one of held) one.leave()
  state.fails = false
  await until(() => !limits.isAlone)
  here.leave()
  expect(await admitted([limits], 5, settings)).toBe(2)
  expect(lines).toHaveLength(2)
})

it('a request that a worker refused without a primary is not charged after the reconnection', async () => {
  const { state, ask } = primary()
  const { limits } = limitsWith({ ask, owner: 'w1' })
  const settings = { budget: { day: 1 } }
  const reserving = async () => {
    const one = limits.of('k', settings)
    await one.enter()
    await one.reserve(
      () => ({ input: 1 }),
      1,
      () => 6e8,
    )
    return one
  }
  await limits.of('k', settings).enter()
  state.fails = true
  const held = await reserving()
  for (let count = 0; count < 3; count++) await expect(reserving()).rejects.toThrow('budget')
  held.settle({ input: 1 }, 0)
  state.fails = false
  await until(() => !limits.isAlone)
  await reserving()
})

/** Returns what is counted as shared of two steps, the second one some steps of the event loop after the probe. */
async function sharedAfter(steps: number): Promise<number | undefined> {
  const shared = new MemoryEngine()
  const initial = { day: 0, month: 0, at: Date.now() }
  const spending = { key: 'k', limits: { day: 100 }, requests: 0, tokens: 0, cost: 1, enforced: false, initial }
  const used: unknown[] = []
  const spendLater = async (): Promise<void> => {
    for (let step = 0; step < steps; step++) await undefined
    used.push(engine.step(spending))
  }
  let isDown = true
  const counts: SharedCounts = {
    ...{ isUp: true, acceptsPossiblyCounted: true, mayBeCounted: () => false, leaveAll() {}, close() {} },
    async step(step) {
      if (isDown) throw new Error('away')
      return shared.step(step)
    },
    async probe() {
      if (isDown) throw new Error('away')
      void spendLater()
    },
  }
  const engine: SharedEngine = new SharedEngine(counts, { local: new MemoryEngine() })
  closing.push(() => engine.close())
  used.push(await engine.step(spending))
  isDown = false
  await until(() => engine.isShared && used.length === 2)
  await Promise.all(used)
  return shared.spent('k', spending.limits)?.day
}

it('what is used in the moment in which counts are shared again is shared', async () => {
  const moments = Array.from({ length: 16 }, (_, steps) => sharedAfter(steps))
  expect(await Promise.all(moments)).toEqual(moments.map(() => 2))
})
