import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type LimitStep, NO_AMOUNTS } from '../../../src/accounts/limits/engine.ts'
import { Limits, type LimitsOptions } from '../../../src/accounts/limits/index.ts'
import type { LimitSettings } from '../../../src/config/index.ts'
import { OpenRedis, type RedisLink } from '../../../src/store/cluster/redis.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { describeWithRedis, RedisServer } from '../../builders/redis.ts'
import { pause, TIMED, until } from '../../builders/time.ts'

/* A machine whose workers count in Redis, and in their primary while Redis is unreachable. */

const SILENT = { info() {}, warn() {}, error() {} }

describeWithRedis('two workers of a machine with a Redis', () => {
  const closing = closingAfterEach()

  async function redisServer() {
    const server = await RedisServer.open()
    closing.push(() => server.close())
    return server
  }

  async function limitsAt(url: string, options: LimitsOptions = {}) {
    const redis = new OpenRedis(url, SILENT)
    await redis.ready(500)
    const limits = new Limits({ redis, ...options })
    closing.push(async () => {
      limits.close()
      await redis.close()
    })
    return { limits, redis }
  }

  /** A primary and its workers. `killed` does what the primary does when a worker dies. */
  async function machineAt(server: RedisServer, count = 2, options: LimitsOptions = {}) {
    const { limits: primary } = await limitsAt(server.url, options)
    const worker = async (owner: string) => {
      const { limits, redis } = await limitsAt(server.url, {
        ...options,
        owner,
        ask: async steps => JSON.parse(JSON.stringify(await primary.take(JSON.parse(JSON.stringify(steps))))),
        primary: {
          takesSlots: key => primary.noteOwner(owner, key),
          isSettled: async () => !primary.isAlone,
        },
      })
      const killed = async () => {
        await redis.close()
        limits.close()
        primary.leaveAll(owner)
      }
      return { limits, killed }
    }
    const workers = await Promise.all(Array.from({ length: count }, (_, at) => worker(`w${at}`)))
    return { primary, workers, worker, all: workers.map(({ limits }) => limits) }
  }

  /** Returns how many of `count` requests are admitted, taking the workers in turn. */
  async function admitted(workers: readonly Limits[], count: number, settings: LimitSettings): Promise<number> {
    let admitted = 0
    for (let at = 0; at < count; at++)
      await Promise.resolve(workers[at % workers.length]!.of('k', settings).enter()).then(
        () => admitted++,
        () => {},
      )
    return admitted
  }

  /** Returns how many requests are admitted within a number of milliseconds of continuous attempts. */
  async function inTime(worker: Limits, settings: LimitSettings, milliseconds: number): Promise<number> {
    let count = 0
    for (const began = performance.now(); performance.now() - began < milliseconds; await pause(50))
      count += await admitted([worker], 1, settings)
    return count
  }

  const together = (machine: { readonly all: readonly Limits[]; readonly primary: Limits }) =>
    until(() => ![machine.primary, ...machine.all].some(({ isAlone }) => isAlone), 10_000)

  test('trap 119: 20 requests a minute are 20 while Redis is away, and no more when it is back', TIMED, async () => {
    const server = await redisServer()
    const machine = await machineAt(server)
    await server.stop()
    expect(await admitted(machine.all, 50, { rpm: 20 })).toBe(20)
    await server.start()
    await together(machine)
    expect(await admitted(machine.all, 50, { rpm: 20 })).toBeLessThanOrEqual(6)
  })

  test('what was used before Redis went away stays used, and refused requests are not charged', TIMED, async () => {
    const server = await redisServer()
    const machine = await machineAt(server)
    expect(await admitted(machine.all, 12, { rpm: 20 })).toBe(12)
    server.pause()
    const meanwhile = await admitted(machine.all, 50, { rpm: 20 })
    expect(meanwhile).toBeGreaterThanOrEqual(8)
    expect(meanwhile).toBeLessThanOrEqual(10)
    server.resume()
    await together(machine)
    const { limits } = machine.workers[0]!
    const one = limits.of('k', { rpm: 20 })
    await Promise.resolve(one.enter()).catch(() => {})
    // A debt would lengthen the time until there is room.
    expect(one.remaining.requests!.reset).toBeLessThanOrEqual(61_000)
    expect(await admitted(machine.all, 50, { rpm: 20 })).toBeLessThanOrEqual(6)
  })

  test('tokens that are given back while Redis is away are there again', TIMED, async () => {
    const server = await redisServer()
    const machine = await machineAt(server)
    const settings = { tpm: 10_000 }
    const one = machine.workers[0]!.limits.of('k', settings)
    await one.enter()
    await one.reserve(() => ({ input: 8000, output: 0 }))
    await server.stop()
    one.settle({ input: 1000 })
    await until(() => (one.remaining.tokens?.remaining ?? 0) > 8000)
    await server.start()
    await together(machine)
    const next = machine.workers[1]!.limits.of('k', settings)
    await next.enter()
    await next.reserve(() => ({ input: 8000, output: 0 }))
    await expect(
      (async () => machine.workers[0]!.limits.of('k', settings).reserve(() => ({ input: 5000, output: 0 })))(),
    ).rejects.toThrow()
  })

  test(
    'concurrent requests are counted once, whichever of them began or ended while Redis was away',
    TIMED,
    async () => {
      const server = await redisServer()
      const machine = await machineAt(server)
      const [one, other] = machine.all as [Limits, Limits]
      const settings = { concurrent: 4 }
      const enter = async (limits: Limits) => {
        const allowance = limits.of('k', settings)
        await allowance.enter()
        return allowance
      }
      const before = [await enter(one), await enter(other)]
      await server.stop()
      const meanwhile = [await enter(one), await enter(other)]
      for (const allowance of [before[0]!, meanwhile[0]!]) allowance.leave()
      await server.start()
      await together(machine)
      // One request of each kind is still running.
      const after = [await enter(one), await enter(other)]
      await expect(enter(one)).rejects.toThrow('concurrent requests')
      for (const allowance of [before[1]!, meanwhile[1]!, ...after]) allowance.leave()
      await expect.poll(() => admitted(machine.all, 6, settings)).toBe(4)
    },
  )

  test('a budget is spent once, whether Redis lost what it held or not', TIMED, async () => {
    const settings = { budget: { day: 1 } }
    for (const keeps of [true, false]) {
      const server = await redisServer()
      const machine = await machineAt(server)
      const spend = async (limits: Limits, cost: number) => {
        const allowance = limits.of('k', settings)
        await allowance.enter()
        await allowance.reserve(
          () => ({ input: 1 }),
          1,
          () => cost,
        )
        return allowance
      }
      ;(await spend(machine.all[0]!, 2e8)).settle({ input: 1 }, 2e8)
      if (keeps) server.pause()
      else await server.stop()
      // Redis may have counted the first step, so that step is not sent again.
      await spend(machine.all[0]!, 0)
      await spend(machine.all[1]!, 0)
      ;(await spend(machine.all[0]!, 3e8)).settle({ input: 1 }, 3e8)
      await spend(machine.all[1]!, 2e8)
      await expect(spend(machine.all[0]!, 6e8)).rejects.toThrow('budget')
      if (keeps) server.resume()
      else await server.start()
      await together(machine)
      const spent = keeps ? 7e8 : 5e8
      await expect(spend(machine.all[0]!, 1e9 - spent + 1)).rejects.toThrow('budget')
      await spend(machine.all[1]!, 1e9 - spent)
    }
  })

  test('a worker that starts while Redis is away counts with the others', TIMED, async () => {
    const server = await redisServer()
    const machine = await machineAt(server)
    await server.stop()
    expect(await admitted(machine.all, 15, { rpm: 20 })).toBe(15)
    const late = await machine.worker('late')
    expect(await admitted([late.limits, ...machine.all], 30, { rpm: 20 })).toBeLessThanOrEqual(6)
    await server.start()
    await together({ ...machine, all: [...machine.all, late.limits] })
    expect(await admitted([late.limits], 30, { rpm: 20 })).toBeLessThanOrEqual(6)
  })

  test('places of a killed worker are free at once, those that it took while Redis was away, too', TIMED, async () => {
    const server = await redisServer()
    const machine = await machineAt(server)
    const settings = { concurrent: 3 }
    const [dying, other] = machine.workers as [(typeof machine.workers)[0], (typeof machine.workers)[0]]
    expect(await admitted([dying.limits], 2, settings)).toBe(2)
    expect(await dying.limits.takeSlot('sessions', 'k', 1)).toBeDefined()
    await server.stop()
    expect(await admitted([dying.limits], 1, settings)).toBe(1)
    await server.start()
    await together(machine)
    expect(await admitted([other.limits], 1, settings)).toBe(0)
    await dying.killed()
    expect(await inTime(other.limits, settings, 1000)).toBe(3)
    expect(await other.limits.takeSlot('sessions', 'k', 1)).toBeDefined()
  })

  test('places of a worker that is killed while Redis is silent are free once it answers', TIMED, async () => {
    const server = await redisServer()
    const machine = await machineAt(server)
    const [dying, other] = machine.workers as [(typeof machine.workers)[0], (typeof machine.workers)[0]]
    expect(await admitted([dying.limits], 3, { concurrent: 3 })).toBe(3)
    server.pause()
    await dying.killed()
    await pause(300)
    server.resume()
    expect(await inTime(other.limits, { concurrent: 3 }, 5000)).toBe(3)
  })
})

describe('a primary whose Redis is away', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] }))
  afterEach(() => void vi.useRealTimers())

  const AWAY: RedisLink = {
    ...{ isUp: false, faults: 0, run: async () => Promise.reject(new Error('away')) },
    ...{ onConnected() {}, publish() {}, subscribe: () => () => {}, close: async () => {} },
  }
  const LIMITS = { concurrent: 1000 }
  const step = (more: Partial<LimitStep>): LimitStep => ({ ...NO_AMOUNTS, key: 'k', limits: LIMITS, ...more })
  const names = (owner: string, count: number) => Array.from({ length: count }, (_, number) => `${owner}.${number}`)

  /** A busy primary: one worker has released five of its ten slots, and another one has just taken two. */
  async function busy() {
    const limits = new Limits({ redis: AWAY })
    await limits.take(names('w0', 10).map(enter => step({ enter, enforced: true })))
    vi.advanceTimersByTime(50)
    await limits.take(names('w0', 5).map(leave => step({ leave })))
    await limits.take(names('w1', 2).map(enter => step({ enter, enforced: true })))
    return limits
  }

  /** Returns the number of slots that are taken. */
  async function taken(limits: Limits): Promise<number> {
    vi.advanceTimersByTime(200)
    const [state] = await limits.take([step({ reportsRoom: true })])
    limits.close()
    return LIMITS.concurrent - state!.room!.concurrent!
  }

  test('releases every slot of a worker that ends', async () => {
    const limits = await busy()
    limits.leaveAll('w1')
    expect(await taken(limits)).toBe(5)
  })

  test('releases no slot that another worker uses', async () => {
    const limits = await busy()
    limits.leaveAll('w0')
    expect(await taken(limits)).toBe(2)
  })
})
