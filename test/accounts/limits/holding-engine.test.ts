import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  type KeyLimits,
  type LimitEngine,
  type LimitState,
  type LimitStep,
  MemoryEngine,
  NO_AMOUNTS,
} from '../../../src/accounts/limits/engine.ts'
import { HoldingEngine } from '../../../src/accounts/limits/holding-engine.ts'

/* Processes that hold quota of busy keys: nobody exceeds a limit, nothing is lost, and few messages are sent. */

const KEY = 'k'
/** Time between two adjustments, in milliseconds. */
const WINDOW = 50
const NOON = Date.UTC(2026, 10, 29, 12)
const PROCESSES = 3

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'], now: NOON }))
afterEach(() => void vi.useRealTimers())

/** A request in flight, with what it reserved. */
interface Running {
  readonly process: number
  readonly name: string
  readonly tokens: number
  readonly cost: number
  readonly reservedAt: number
}

/** A primary process whose workers' messages arrive in their order, when the test says so. */
class Machine {
  readonly running: Running[] = []
  readonly results: LimitState[] = []
  /** Cost of the requests that ended. */
  settled = 0
  messages = 0
  private readonly counts = new MemoryEngine(Date.now)
  private readonly queues: (() => void)[][] = Array.from({ length: PROCESSES }, () => [])
  private readonly engines: readonly HoldingEngine[]
  private readonly limits: KeyLimits
  private slots = 0

  constructor(limits: KeyLimits) {
    this.limits = limits
    this.engines = this.queues.map(queue => new HoldingEngine(this.wire(queue), Date.now))
    this.counts.step({ ...NO_AMOUNTS, key: KEY, limits, initial: { day: 0, month: 0, at: NOON } })
  }

  private wire(queue: (() => void)[]): LimitEngine {
    const step = (step: LimitStep): Promise<LimitState> => {
      const { promise, resolve } = Promise.withResolvers<LimitState>()
      const sent = JSON.parse(JSON.stringify(step)) as LimitStep
      this.messages++
      queue.push(() => resolve(this.counts.step(sent)))
      return promise
    }
    return { step, leaveAll() {}, close() {} }
  }

  /** Begins a request. Its promise resolves when the process admits or refuses it. */
  async begin(process: number, tokens: number, cost: number): Promise<LimitState> {
    const name = `${process}.${(this.slots++).toString(36)}`
    const reservedAt = Date.now()
    const step = {
      ...NO_AMOUNTS,
      key: KEY,
      limits: this.limits,
      requests: 1,
      tokens,
      cost,
      enter: name,
      enforced: true,
    }
    const state = await this.engines[process]!.step(step)
    if (state.refused === undefined) this.running.push({ process, name, tokens, cost, reservedAt })
    this.results.push(state)
    return state
  }

  /** Ends a request, which used a part of what it reserved. */
  end(index: number, share: number): { readonly back: number } | undefined {
    const [request] = this.running.splice(index % Math.max(1, this.running.length), 1)
    if (request === undefined) return undefined
    const { process, name, reservedAt } = request
    const [tokens, cost] = [Math.floor(request.tokens * share), Math.floor(request.cost * share)]
    this.settled += cost
    const more = { tokens: tokens - request.tokens, cost: cost - request.cost, reservedAt }
    void this.engines[process]!.step({ ...NO_AMOUNTS, key: KEY, limits: this.limits, ...more, leave: name })
    return { back: request.cost - cost }
  }

  /** Delivers messages of one process, or of all. */
  async deliver(process?: number, count = Number.POSITIVE_INFINITY): Promise<void> {
    const queues = process === undefined ? this.queues : [this.queues[process]!]
    for (const queue of queues) for (const answer of queue.splice(0, count)) answer()
    await new Promise(resolve => setImmediate(resolve))
  }

  /** Lets windows pass, and delivers everything. */
  async pass(windows: number): Promise<void> {
    for (let window = 0; window < windows; window++) {
      vi.advanceTimersByTime(WINDOW)
      await this.deliver()
    }
  }

  /** Cost of the requests that ended, and what those in flight reserved. */
  get used(): number {
    return this.settled + this.running.reduce((sum, { cost }) => sum + cost, 0)
  }

  /** What the primary has counted. */
  counted() {
    const { room } = this.counts.step({ ...NO_AMOUNTS, key: KEY, limits: this.limits, reportsRoom: true })
    const { concurrent = 0, day = 0 } = this.limits
    return { slots: concurrent - (room!.concurrent ?? concurrent), spent: day - (room!.day ?? day) }
  }

  /** What the primary does when a process ends by itself. */
  kill(process: number): void {
    this.counts.leaveAll(`${process}`)
  }

  close(process: number): void {
    this.engines[process]!.close()
  }
}

/** Counts of a process that holds nothing. */
class Alone {
  private slots = 0
  private spent = 0
  private readonly limits: KeyLimits

  constructor(limits: KeyLimits) {
    this.limits = limits
  }

  /** Begins a request. Returns the limit that refuses it. */
  begin(cost: number): string | undefined {
    const { concurrent = 0, day = 0 } = this.limits
    if (this.spent >= day || this.spent + cost > day) return 'day'
    if (this.slots >= concurrent) return 'concurrent'
    this.slots++
    this.spent += cost
    return undefined
  }

  end(ended: { readonly back: number } | undefined): void {
    if (ended === undefined) return
    this.slots--
    this.spent -= ended.back
  }
}

const process = fc.nat(PROCESSES - 1)
const count = fc.integer({ min: 1, max: 9 })
const share = fc.constantFrom(0, 0.5, 1)
const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('begin' as const), process, count, cost: fc.constant(2) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('begin' as const), process, count: fc.constant(1), cost: fc.nat(900) }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('end' as const), index: fc.nat(99), count, share }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('deliver' as const), process, count }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pass' as const), windows: fc.integer({ min: 1, max: 3 }) }) },
)
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never

async function apply(machine: Machine, one: Action): Promise<void> {
  if (one.do === 'pass') return machine.pass(one.windows)
  if (one.do === 'deliver') return machine.deliver(one.process, one.count)
  for (let number = 0; number < one.count; number++) {
    if (one.do === 'begin') void machine.begin(one.process, 2, one.cost)
    else machine.end(one.index + number, one.share)
  }
  await new Promise(resolve => setImmediate(resolve))
}

/** Limits that a few requests reach, and limits with ample room until a large request comes. */
const someLimits = fc.record({
  concurrent: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constant(300)),
  day: fc.oneof(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 500, max: 3000 })),
})

test('no limit is exceeded at any moment, and everything that is held is returned', async () => {
  await fc.assert(
    fc.asyncProperty(someLimits, fc.array(action, { minLength: 10, maxLength: 80 }), async (limits, actions) => {
      vi.setSystemTime(NOON)
      const machine = new Machine(limits)
      for (const one of actions) {
        await apply(machine, one)
        const { slots, spent } = machine.counted()
        expect(slots).toBeLessThanOrEqual(limits.concurrent)
        expect(spent).toBeLessThanOrEqual(limits.day)
        expect(machine.running.length).toBeLessThanOrEqual(slots)
        expect(machine.used).toBeLessThanOrEqual(spent)
      }
      // A process that gives back asks again.
      await machine.pass(3)
      while (machine.running.length > 0) machine.end(0, 1)
      await machine.pass(4)
      expect(machine.counted()).toEqual({ slots: 0, spent: machine.settled })
      expect(vi.getTimerCount()).toBe(0)
    }),
    { numRuns: 300 },
  )
})

test('a process that shares its limits with nobody is refused what one process would be', async () => {
  await fc.assert(
    fc.asyncProperty(someLimits, fc.array(action, { minLength: 10, maxLength: 80 }), async (limits, actions) => {
      vi.setSystemTime(NOON)
      const machine = new Machine(limits)
      const alone = new Alone(limits)
      for (const one of actions) {
        for (let number = 0; one.do === 'begin' && number < one.count; number++) {
          const begun = machine.begin(0, 0, one.cost)
          for (let turn = 0; turn < 3; turn++) await machine.deliver()
          expect((await begun).refused?.limit).toBe(alone.begin(one.cost))
        }
        for (let number = 0; one.do === 'end' && number < one.count; number++)
          alone.end(machine.end(one.index, one.share))
        if (one.do === 'pass') await machine.pass(one.windows)
      }
    }),
    { numRuns: 300 },
  )
})

test('what is scarce is held by nobody, so that an idle process keeps none from a busy one', async () => {
  const machine = new Machine({ concurrent: 20, day: 1e9 })
  for (let number = 0; number < 10; number++) void machine.begin(1, 0, 1)
  await machine.deliver()
  await machine.pass(1)
  while (machine.running.length > 0) machine.end(0, 1)
  await machine.deliver()
  const begun = Array.from({ length: 20 }, () => machine.begin(0, 0, 1))
  await machine.deliver()
  expect((await Promise.all(begun)).filter(({ refused }) => refused !== undefined)).toEqual([])
})

test('requests and tokens per minute are admitted as often as one process would', async () => {
  for (const limits of [{ rpm: 6000 }, { tpm: 60_000 }]) {
    const machine = new Machine(limits)
    const began = Date.now()
    const rounds = 500
    for (let round = 0; round < rounds; round++) {
      for (let number = 0; number < 18; number++) void machine.begin(number % PROCESSES, 10, 0)
      await machine.pass(1)
    }
    const admitted = machine.results.filter(({ refused }) => refused === undefined).length
    const allowed = 6000 + (6000 * (Date.now() - began)) / 60_000
    expect(admitted).toBeLessThanOrEqual(allowed)
    expect(admitted).toBeGreaterThan(allowed - 18)
  }
})

describe('a busy key with ample room', () => {
  const AMPLE = { rpm: 1e9, tpm: 1e12, concurrent: 10_000, day: 1e15, month: 1e15 }

  /** Lets a process serve requests, each of which begins when the one before ends. */
  async function serve(machine: Machine, process: number, count: number, cost = 100): Promise<void> {
    for (let number = 0; number < count; number++) {
      const begun = machine.begin(process, 10, cost)
      await new Promise(resolve => setImmediate(resolve))
      await machine.deliver()
      await begun
      machine.end(0, 0.5)
    }
  }

  test('needs few messages', async () => {
    const machine = new Machine(AMPLE)
    await serve(machine, 0, 10)
    await machine.pass(1)
    const before = machine.messages
    for (let window = 0; window < 10; window++) {
      await serve(machine, 0, 10)
      await machine.pass(1)
    }
    expect(machine.messages - before).toBeLessThanOrEqual(30)
    await machine.pass(4)
    expect(machine.counted()).toEqual({ slots: 0, spent: machine.settled })
  })

  test('takes no more than it needs while the shared counts have not answered', async () => {
    const machine = new Machine(AMPLE)
    await serve(machine, 0, 10)
    await machine.pass(1)
    await serve(machine, 0, 10)
    await machine.pass(1)
    const most = []
    for (let window = 0; window < 20; window++) {
      for (let number = 0; number < 10; number++) {
        void machine.begin(0, 10, 100)
        await new Promise(resolve => setImmediate(resolve))
        machine.end(0, 1)
      }
      vi.advanceTimersByTime(WINDOW)
      if (window % 4 === 3) await machine.deliver()
      most.push(machine.counted().spent - machine.used)
    }
    expect(Math.max(...most)).toBeLessThanOrEqual(2 * 10 * 100)
  })

  test('may use everything that is left, including what its process holds', async () => {
    const machine = new Machine({ day: 100_000, concurrent: 1000 })
    await serve(machine, 0, 10)
    await machine.pass(1)
    await serve(machine, 0, 5)
    expect(machine.counted().spent).toBeGreaterThan(machine.settled)
    const begun = machine.begin(0, 0, 100_000 - machine.settled)
    for (let turn = 0; turn < 3; turn++) await machine.deliver()
    expect((await begun).refused).toBeUndefined()
  })

  test('holds nothing that the shared counts refused, because another process was faster', async () => {
    const machine = new Machine({ day: 100_000, concurrent: 1000 })
    await serve(machine, 0, 10)
    await machine.deliver()
    vi.advanceTimersByTime(WINDOW)
    void machine.begin(1, 0, 100_000 - machine.settled)
    await machine.deliver(1)
    await machine.deliver(0)
    const begun = machine.begin(0, 0, 100)
    for (let turn = 0; turn < 3; turn++) await machine.deliver()
    expect((await begun).refused?.limit).toBe('day')
  })

  test('is told what is left as if nothing were held', async () => {
    const machine = new Machine({ rpm: 1000, tpm: 100_000 })
    await serve(machine, 0, 10, 0)
    await machine.pass(1)
    await serve(machine, 0, 5, 0)
    expect(machine.results.at(-1)!.requests).toBeCloseTo(1000 - 14, -1)
    expect(machine.results.at(-1)!.tokens).toBeCloseTo(100_000 - 4 * 5 - 10, -1)
  })

  test('leaves its budget of yesterday at midnight', async () => {
    const machine = new Machine({ ...AMPLE, day: 1e6, month: undefined })
    vi.setSystemTime(Date.UTC(2026, 10, 29, 23, 59, 59, 900))
    await serve(machine, 0, 10)
    await machine.pass(1)
    await serve(machine, 0, 10)
    const yesterday = machine.settled
    vi.setSystemTime(Date.UTC(2026, 10, 30))
    await serve(machine, 0, 10)
    await machine.pass(6)
    expect(machine.counted().spent).toBe(machine.settled - yesterday)
  })

  test('returns everything when its process ends', async () => {
    const machine = new Machine(AMPLE)
    await serve(machine, 0, 10)
    await machine.pass(1)
    await serve(machine, 0, 10)
    machine.close(0)
    await machine.deliver()
    await machine.deliver()
    expect(machine.counted()).toEqual({ slots: 0, spent: machine.settled })
    expect(vi.getTimerCount()).toBe(0)
  })

  test('holds no slot after its process was killed', async () => {
    const machine = new Machine(AMPLE)
    await serve(machine, 0, 10)
    await machine.pass(1)
    await serve(machine, 0, 10)
    void machine.begin(0, 10, 100)
    await machine.deliver()
    machine.kill(0)
    expect(machine.counted().slots).toBe(0)
  })
})

describe('steps in the shared counts', () => {
  const LIMITS = { rpm: 1e9, concurrent: 1000 }
  const AMPLE_STATE = { requests: 1e9, room: { concurrent: 1000, day: undefined, month: undefined } }

  /** An engine over counts that grant everything, and the steps that arrive there. */
  function recorded() {
    const steps: LimitStep[] = []
    const calls: string[] = []
    const shared: LimitEngine = {
      step(step) {
        steps.push(step)
        return Promise.resolve(AMPLE_STATE)
      },
      leaveAll: owner => calls.push(`leaveAll ${owner}`),
      close: () => calls.push('close'),
    }
    return { steps, calls, engine: new HoldingEngine(shared, Date.now) }
  }

  const entering = (number: number, limits: KeyLimits = LIMITS): LimitStep => ({
    ...{ ...NO_AMOUNTS, key: KEY, limits, requests: 1, enter: `0.${number}`, enforced: true },
  })
  const leaving = (number: number, limits: KeyLimits = LIMITS): LimitStep => ({
    ...{ ...NO_AMOUNTS, key: KEY, limits, leave: `0.${number}` },
  })

  /** Makes the key busy, so that 16 requests and two slots are held. */
  async function busy({ engine, steps }: ReturnType<typeof recorded>): Promise<void> {
    for (let number = 0; number < 8; number++) await engine.step(entering(number))
    vi.advanceTimersByTime(WINDOW)
    await Promise.resolve()
    await new Promise(resolve => setImmediate(resolve))
    for (const number of [0, 1]) engine.step(leaving(number))
    steps.length = 0
  }

  test('ask for the room of the key', async () => {
    const { engine, steps } = recorded()
    await engine.step(entering(1))
    expect(steps).toEqual([{ ...entering(1), leave: undefined, reportsRoom: true }])
  })

  test('state the earlier spend or what is left at most, even if the step would fit', async () => {
    const all = recorded()
    await busy(all)
    const initial = { day: 1, month: 1, at: 1 }
    expect(all.engine.step({ ...entering(8), initial })).toBeInstanceOf(Promise)
    expect(all.engine.step({ ...entering(9), atMost: { requests: 1, at: 1 } })).toBeInstanceOf(Promise)
    expect(all.steps).toHaveLength(2)
    expect(all.engine.step(entering(10))).not.toBeInstanceOf(Promise)
    expect(all.steps).toHaveLength(2)
  })

  test('keep no slot of a request that has none', async () => {
    const all = recorded()
    await busy(all)
    all.engine.step({ ...NO_AMOUNTS, key: KEY, limits: LIMITS })
    for (const number of [8, 9]) expect(all.engine.step(entering(number))).not.toBeInstanceOf(Promise)
    expect(all.engine.step(entering(10))).toBeInstanceOf(Promise)
  })

  test('release a slot under the name that is known there', async () => {
    const all = recorded()
    await busy(all)
    all.engine.step(entering(8))
    vi.advanceTimersByTime(2 * WINDOW)
    all.steps.length = 0
    all.engine.step(leaving(8))
    all.engine.step(leaving(8))
    expect(all.steps.map(({ leave }) => leave)).toEqual(['0.1', '0.8'])
  })

  test('give everything back when the limits change, and also what arrives later', async () => {
    const all = recorded()
    await busy(all)
    for (let number = 8; number < 20; number++) await all.engine.step(entering(number))
    vi.advanceTimersByTime(WINDOW)
    const other = { rpm: 1e8, concurrent: 1000 }
    void all.engine.step(entering(20, other))
    await new Promise(resolve => setImmediate(resolve))
    const former = all.steps.filter(({ limits }) => limits.rpm === 1e9)
    // What is held is a part of what was taken before: 16 requests for twelve that followed.
    expect(former.reduce((sum, { requests }) => sum + requests, 16)).toBe(12)
    expect(all.steps).toHaveLength(former.length + 1)
  })

  test('give everything back before they end, and pass the end of another process on', async () => {
    const all = recorded()
    await busy(all)
    all.engine.leaveAll('other')
    all.engine.close()
    expect(all.steps.map(({ leave, requests }) => [leave, requests])).toEqual([
      ['0.0', 0],
      ['0.1', 0],
      [undefined, -16],
    ])
    expect(all.calls).toEqual(['leaveAll other', 'close'])
    expect(vi.getTimerCount()).toBe(0)
  })
})
