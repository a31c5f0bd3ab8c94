import fc from 'fast-check'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { EarlyEngine } from '../../../src/accounts/limits/early-engine.ts'
import {
  type KeyLimits,
  type LimitEngine,
  type LimitState,
  type LimitStep,
  MemoryEngine,
  NO_AMOUNTS,
} from '../../../src/accounts/limits/engine.ts'
import { Limits } from '../../../src/accounts/limits/index.ts'
import { SILENT } from '../../../src/log.ts'
import { OpenRedis } from '../../../src/store/cluster/redis.ts'
import { describeWithRedis, RedisServer } from '../../builders/redis.ts'
import { type SlowProxy, slowProxy } from '../../builders/slow-proxy.ts'
import { SOON } from '../../builders/time.ts'

const DELAY = 50

/** Shared counts that answer in the order of the steps, each after a delay by their own clock. */
class FarCounts {
  now = Date.UTC(2026, 10, 29, 12)
  readonly counts = new MemoryEngine(() => this.now)
  private readonly waiting: { readonly at: number; readonly answer: () => void }[] = []
  private slots = 0
  private spent = 0

  engine(): EarlyEngine {
    const far: LimitEngine = { step: step => this.step(step), leaveAll() {}, close() {} }
    return new EarlyEngine(far, () => this.now)
  }

  /** Lets time pass, and answers what is due. */
  async pass(milliseconds: number): Promise<void> {
    this.now += milliseconds
    while (this.waiting[0] !== undefined && this.waiting[0].at <= this.now) this.waiting.shift()!.answer()
    await new Promise(resolve => setImmediate(resolve))
  }

  private step(step: LimitStep): Promise<LimitState> {
    const state = this.counts.step({ ...step, initial: { day: 0, month: 0, at: this.now } })
    if (state.refused === undefined) this.note(step)
    const { concurrent, day } = step.limits
    const room = {
      concurrent: concurrent === undefined ? undefined : concurrent - this.slots,
      ...{ day: day === undefined ? undefined : day - this.spent, month: undefined },
    }
    const { promise, resolve } = Promise.withResolvers<LimitState>()
    this.waiting.push({ at: this.now + DELAY, answer: () => resolve({ ...state, room }) })
    return promise
  }

  private note({ enter, leave, cost }: LimitStep): void {
    if (enter !== undefined) this.slots++
    if (leave !== undefined) this.slots--
    this.spent += cost
  }
}

const KEY = 'k'
const entering = (limits: KeyLimits, name: string): LimitStep => ({
  ...{ ...NO_AMOUNTS, key: KEY, limits, requests: 1, cost: 1, enforced: true },
  ...{ enter: name, leave: undefined },
})
const leaving = (limits: KeyLimits, name: string): LimitStep => ({ ...NO_AMOUNTS, key: KEY, limits, leave: name })

/** Time for which every step must be slow, in milliseconds. */
const SLOW_FOR = 2000

/** Has one request enter and leave, after which the engine knows that its counts are far away. */
async function learnt(far: FarCounts, engine: EarlyEngine, limits: KeyLimits): Promise<void> {
  const first = Promise.resolve(engine.step(entering(limits, 'first.0')))
  await far.pass(DELAY)
  expect((await first).refused).toBeUndefined()
  await far.pass(SLOW_FOR)
  const left = Promise.resolve(engine.step(leaving(limits, 'first.0')))
  await far.pass(DELAY)
  await left
}

const AMPLE: KeyLimits = { rpm: 1000, concurrent: 100, day: 1e9 }

it('a step with ample room does not wait for slow counts, and is counted there', async () => {
  const far = new FarCounts()
  const engine = far.engine()
  await learnt(far, engine, AMPLE)
  const state = engine.step(entering(AMPLE, 'a.1'))
  expect(state).not.toBeInstanceOf(Promise)
  expect((state as LimitState).requests).toBeLessThanOrEqual(999)
  expect(far.counts.step({ ...NO_AMOUNTS, key: KEY, limits: AMPLE }).requests).toBeLessThanOrEqual(999)
})

it.each([
  ['requests', { rpm: 15 }],
  ['slots', { rpm: 1000, concurrent: 15 }],
  ['budget', { rpm: 1000, day: 15 }],
])('a step waits if little is left of its %s', async (_, limits) => {
  const far = new FarCounts()
  const engine = far.engine()
  await learnt(far, engine, limits)
  const state = engine.step(entering(limits, 'a.1'))
  expect(state).toBeInstanceOf(Promise)
  await far.pass(DELAY)
  expect((await state).refused).toBeUndefined()
})

it('a step waits after its limits were changed, and after nothing was heard for long', async () => {
  const far = new FarCounts()
  const engine = far.engine()
  await learnt(far, engine, AMPLE)
  expect(engine.step(entering({ ...AMPLE, rpm: 999 }, 'a.1'))).toBeInstanceOf(Promise)
  await far.pass(DELAY)
  await learnt(far, engine, AMPLE)
  await far.pass(11_000)
  expect(engine.step(entering(AMPLE, 'a.2'))).toBeInstanceOf(Promise)
})

it('many steps at once do not make counts slow that answer each of them late', async () => {
  const far = new FarCounts()
  const engine = far.engine()
  const states = Array.from({ length: 100 }, (_, index) => engine.step(entering({ rpm: 50 }, `a.${index}`)))
  await far.pass(DELAY)
  const admitted = (await Promise.all(states)).filter(({ refused }) => refused === undefined)
  expect(admitted).toHaveLength(50)
  expect(engine.step(entering({ rpm: 1000 }, 'a.1000'))).toBeInstanceOf(Promise)
})

it('a slot taken without waiting is released after it was taken', async () => {
  const far = new FarCounts()
  const engine = far.engine()
  await learnt(far, engine, AMPLE)
  engine.step(entering(AMPLE, 'a.1'))
  const left = Promise.resolve(engine.step(leaving(AMPLE, 'a.1')))
  for (let turn = 0; turn < 4; turn++) await far.pass(DELAY)
  const { room } = await left
  expect(room?.concurrent).toBe(100)
})

it('processes together admit at most the limit, and a sixteenth of it for each process', async () => {
  const works = fc.array(fc.record({ process: fc.nat(3), pause: fc.integer({ min: 0, max: 40 }) }), {
    minLength: 50,
    maxLength: 200,
    size: 'max',
  })
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 100 }), works, async (concurrent, list) => {
      const far = new FarCounts()
      const limits = { concurrent }
      const engines = [far.engine(), far.engine(), far.engine(), far.engine()]
      for (const engine of engines) await learnt(far, engine, limits)
      const states: Promise<LimitState>[] = []
      for (const [index, { process, pause }] of list.entries()) {
        states.push(Promise.resolve(engines[process]!.step(entering(limits, `p${process}.${index}`))))
        await far.pass(pause)
      }
      for (let turn = 0; turn < 4; turn++) await far.pass(DELAY)
      const admitted = (await Promise.all(states)).filter(({ refused }) => refused === undefined).length
      expect(admitted).toBeLessThanOrEqual(concurrent + engines.length * Math.floor(concurrent / 16))
      expect(admitted).toBeGreaterThanOrEqual(Math.min(concurrent, list.length))
    }),
    { numRuns: 30 },
  )
})

describeWithRedis('a Redis that is far away', () => {
  let server: RedisServer
  let proxy: SlowProxy

  beforeAll(async () => {
    server = await RedisServer.open()
    proxy = await slowProxy(server.port, DELAY)
  })
  afterAll(async () => {
    proxy.close()
    await server.close()
  })

  it('keeps no caller waiting, and counts every slot and cost', async () => {
    const link = new OpenRedis(`redis://127.0.0.1:${proxy.port}`, SILENT)
    await link.ready(5000)
    const limits = new Limits({ redis: link })
    const settings = { rpm: 10_000, tpm: 1e9, concurrent: 1000, budget: { day: 100 } }
    /** Does what a request does. Returns how long its caller waited, in milliseconds. */
    const request = async (): Promise<number> => {
      const reservation = limits.of(KEY, settings)
      const began = performance.now()
      await reservation.enter(true, 100)
      await reservation.reserve(
        () => ({ input: 100, output: 50 }),
        100,
        ({ input, output }) => 1000 * (input + output),
      )
      const waited = performance.now() - began
      reservation.settle({ input: 100, output: 50 }, 150_000)
      return waited
    }
    await request()
    await new Promise(resolve => setTimeout(resolve, SLOW_FOR))
    await request()
    const waited = await Promise.all(Array.from({ length: 20 }, request))
    expect(Math.max(...waited)).toBeLessThan(DELAY)
    const exact = { ...NO_AMOUNTS, key: KEY, limits: { rpm: 10_000, tpm: 1e9, concurrent: 1000, day: 100e9 } }
    const left = { concurrent: 1000, day: 100e9 - 22 * 150_000, month: undefined }
    await vi.waitFor(async () => expect((await limits.engine.step(exact)).room).toEqual(left), SOON)
    limits.close()
    await link.close()
  })
})
