import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemoryEngine } from '../../../src/accounts/limits/engine.ts'
import { Limits } from '../../../src/accounts/limits/index.ts'
import { takeSteps } from '../../../src/accounts/limits/remote-engine.ts'
import type { Reservation } from '../../../src/accounts/limits/reservation.ts'
import { GatewayError } from '../../../src/canonical/error.ts'
import { happenings, taken } from '../../builders/limit-steps.ts'
import { until } from '../../builders/time.ts'
import { RUNS } from '../../laws/runs.ts'

const START = Date.UTC(2026, 10, 29, 20)
const HOUR = 3_600_000

/** Whether a limit admits the request. */
function isAdmitted(act: () => unknown): boolean {
  try {
    act()
    return true
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(GatewayError)
    return false
  }
}

interface Taken {
  readonly at: number
  readonly units: number
}

/**
 * The largest excess over the refill in any window that ends at a time; 0 or less leaves room for one minute's quota.
 */
function excess(admitted: readonly Taken[], end: number, perMinute: number): number {
  let most = Number.NEGATIVE_INFINITY
  let sum = 0
  for (const { at, units } of admitted.toReversed()) {
    sum += units
    most = Math.max(most, sum - perMinute - ((end - at) * perMinute) / 60_000)
  }
  return most
}

describe('a minute’s allowance', () => {
  const ROUNDING = 1e-6

  it.each(['requests', 'tokens'] as const)(
    'of %s lets no window have more than it and its refill, and no less by more than the refill of a second',
    what => {
      fc.assert(
        fc.property(
          fc.integer({ min: 1, max: 200 }),
          fc.array(fc.tuple(fc.nat(8000), fc.integer({ min: 1, max: 50 })), { maxLength: 150, size: 'max' }),
          (perMinute, arrivals) => {
            let now = START
            const limits = new Limits({ now: () => now })
            const admitted: Taken[] = []
            for (const [wait, size] of arrivals) {
              now += wait
              const units = what === 'requests' ? 1 : Math.min(size, perMinute)
              const allowance = limits.of('k', what === 'requests' ? { rpm: perMinute } : { tpm: perMinute })
              const isIn = isAdmitted(() => {
                allowance.enter()
                allowance.reserve(() => ({ input: units, output: 0 }))
              })
              if (isIn) admitted.push({ at: now, units })
              const beyond = excess(admitted, now, perMinute)
              if (isIn) expect(beyond).toBeLessThanOrEqual(ROUNDING)
              else expect(beyond + units).toBeGreaterThan(-perMinute / 60)
            }
          },
        ),
      )
    },
  )
})

describe('a budget', () => {
  const day = (at: number) => new Date(at).toISOString().slice(0, 10)
  const month = (at: number) => new Date(at).toISOString().slice(0, 7)

  it('admits exactly what fits beside what was spent and is expected of requests in flight, by UTC day and month', async () => {
    const happening = fc.record({
      wait: fc.oneof(fc.nat(60_000), fc.nat(10 * HOUR)),
      estimate: fc.integer({ min: 0, max: 500 }),
      ends: fc.option(fc.record({ which: fc.nat(20), cost: fc.integer({ min: 0, max: 900 }) })),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 2000 }),
        fc.integer({ min: 0, max: 6000 }),
        fc.array(happening, { maxLength: 80, size: 'max' }),
        async (perDay, perMonth, list) => {
          let now = START
          const limits = new Limits({ now: () => now })
          const settings = { budget: { day: perDay / 1e9, month: perMonth / 1e9 } }
          const requests: { at: number; cost: number; allowance: Reservation; open: boolean }[] = []
          const sum = (periodOf: (at: number) => string) =>
            requests.filter(({ at }) => periodOf(at) === periodOf(now)).reduce((total, { cost }) => total + cost, 0)
          const hasRoom = (spent: number, cost: number, limit: number) => spent < limit && spent + cost <= limit
          for (const { wait, estimate, ends } of list) {
            now += wait
            const running = requests.filter(({ open }) => open)
            const ending = ends === null ? undefined : running[ends.which % Math.max(1, running.length)]
            if (ending !== undefined) {
              ending.allowance.settle({ input: 1 }, ends!.cost)
              Object.assign(ending, { cost: ends!.cost, open: false })
            }
            const fits = hasRoom(sum(day), estimate, perDay) && hasRoom(sum(month), estimate, perMonth)
            const allowance = limits.of('k', settings)
            const cost = async () => {
              await allowance.enter()
              await allowance.reserve(
                () => ({ input: 1 }),
                1,
                () => estimate,
              )
            }
            const isIn = await cost().then(
              () => true,
              () => false,
            )
            expect(isIn).toBe(fits)
            if (isIn) requests.push({ at: now, cost: estimate, allowance, open: true })
          }
        },
      ),
    )
  })
})

describe('a clock that is set back', () => {
  const DAY = 24 * HOUR
  const NOON = Date.UTC(2026, 10, 10, 12)
  /** A key that has spent 9 of 10. If `isKept`, the store knows the spend by day. */
  async function spent(period: 'day' | 'month', isKept = true) {
    const clock = { now: NOON }
    const rows: { readonly at: number; readonly cost: number }[] = []
    const sum = (at: number, length: number) =>
      rows.reduce((total, row) => total + (isSame(row.at, at, length) ? row.cost : 0), 0)
    const isSame = (a: number, b: number, length: number) =>
      new Date(a).toISOString().slice(0, length) === new Date(b).toISOString().slice(0, length)
    const limits = new Limits({
      now: () => clock.now,
      ...(isKept && { spent: async (_: string, at: number) => ({ day: sum(at, 10), month: sum(at, 7) }) }),
    })
    const spend = async (cost: number): Promise<boolean> => {
      const allowance = limits.of('k', { budget: { [period]: 10e-9 } })
      const reserved = async () => {
        await allowance.enter()
        await allowance.reserve(
          () => ({ input: 1 }),
          1,
          () => cost,
        )
      }
      const isIn = await reserved().then(
        () => true,
        () => false,
      )
      if (!isIn) return false
      rows.push({ at: clock.now, cost })
      allowance.settle({ input: 1 }, cost)
      return true
    }
    expect(await spend(9)).toBe(true)
    return { clock, spend }
  }

  it.each([
    ['day', DAY, true],
    ['day', DAY, false],
    ['month', 31 * DAY, true],
    ['month', 31 * DAY, false],
  ] as const)('forgets nothing of the %s it was ahead of by %i ms; rows are kept: %s', async (period, by, isKept) => {
    const { clock, spend } = await spent(period, isKept)
    clock.now = NOON + by
    expect(await spend(1)).toBe(true)
    clock.now = NOON
    expect([await spend(2), await spend(1), await spend(1)]).toEqual([false, true, false])
  })

  it.each([true, false])('to a day before, and comes on again, forgets nothing; rows are kept: %s', async isKept => {
    const { clock, spend } = await spent('day', isKept)
    clock.now = NOON - DAY
    expect([await spend(7), await spend(4)]).toEqual([true, false])
    clock.now = NOON
    expect([await spend(2), await spend(1)]).toEqual([false, true])
  })

  it('goes on into the next day, which has spent nothing', async () => {
    const { clock, spend } = await spent('day')
    clock.now = NOON + 900 * DAY
    await spend(10)
    clock.now = NOON
    expect(await spend(2)).toBe(false)
    clock.now = NOON + DAY
    expect([await spend(10), await spend(1)]).toEqual([true, false])
  })
})

describe('the counts in memory', () => {
  it('stay as they are where a step is refused', () => {
    let refusals = 0
    fc.assert(
      fc.property(happenings('k'), list => {
        let now = START
        const engine = new MemoryEngine(() => now)
        for (const one of list) {
          const { step, ...at } = taken(one, now)
          now = at.now
          const look = { key: 'k', limits: step.limits, requests: 0, tokens: 0, cost: 0, enforced: false }
          const before = engine.step(look)
          const state = engine.step(step)
          if (state.refused === undefined) continue
          refusals++
          expect(engine.step(look)).toEqual(before)
          expect(engine.step(step).refused).toEqual(state.refused)
        }
      }),
    )
    expect(refusals).toBeGreaterThan(0)
  })

  /** Takes as many steps of other keys as lead to a sweep. */
  const sweep = (engine: MemoryEngine) => {
    const other = { limits: {}, requests: 0, tokens: 0, cost: 0, enforced: false }
    for (let step = 0; step < 1100; step++) engine.step({ ...other, key: `other${step % 3}` })
  }

  it.each(['day', 'month', 'concurrent'] as const)('are kept of a key whose request is running: %s', limit => {
    const engine = new MemoryEngine(() => START)
    const initial = { day: 0, month: 0, at: START }
    const step = { key: 'k', limits: { [limit]: 1 }, requests: 0, tokens: 0, cost: 1, enforced: true }
    engine.step({ ...step, enter: 'o.1', initial })
    sweep(engine)
    expect(engine.step({ ...step, enter: 'o.2' })).toMatchObject({ refused: { limit } })
  })

  it('are the same whether idle keys are forgotten meanwhile or not', () => {
    fc.assert(
      fc.property(happenings('k'), list => {
        let now = START
        const [keeping, sweeping] = [new MemoryEngine(() => now), new MemoryEngine(() => now)]
        for (const one of list.slice(0, 20)) {
          const { step: taking, ...at } = taken({ ...one, pause: Math.abs(one.pause) }, now)
          now = at.now
          const { initial: _, ...step } = taking
          const initial = keeping.spent('k', step.limits, now) ?? { day: 0, month: 0, at: now }
          const use = (engine: MemoryEngine) => {
            const state = engine.step(step)
            return state.unknown ? engine.step({ ...step, initial }) : state
          }
          expect(use(sweeping)).toEqual(use(keeping))
          const spent = sweeping.spent('k', step.limits, now)
          // The spend of a key that was forgotten is read from the store.
          if (spent !== undefined) expect(spent).toEqual(keeping.spent('k', step.limits, now))
          sweep(sweeping)
        }
      }),
      { numRuns: Math.min(30, RUNS) },
    )
  })

  it('know the spend of a key for the budgets that it has', () => {
    const engine = new MemoryEngine(() => START)
    const initial = { day: 3, month: 4, at: START }
    const step = { requests: 0, tokens: 0, cost: 1, enforced: true, initial }
    engine.step({ ...step, key: 'day', limits: { day: 9 } })
    engine.step({ ...step, key: 'both', limits: { day: 9, month: 9 } })
    const spent = (key: string, limits: object) => engine.spent(key, limits)
    expect(spent('day', { day: 9 })).toEqual({ day: 4, month: 0, at: START })
    expect(spent('both', { day: 9, month: 9 })).toEqual({ day: 4, month: 5, at: START })
    expect(spent('day', {})).toEqual({ day: 4, month: 0, at: START })
    expect([spent('day', { month: 9 }), spent('day', { day: 9, month: 9 }), spent('nobody', {})]).toEqual([
      ...[undefined, undefined, undefined],
    ])
    engine.step({ ...step, key: 'month', limits: { month: 9 } })
    expect(spent('month', { month: 9 })).toEqual({ day: 0, month: 5, at: START })
    expect(engine.size).toBe(3)
    engine.leaveAll('o')
    engine.close()
    expect(engine.size).toBe(0)
  })

  it('are forgotten when a key is idle', () => {
    let now = START
    const engine = new MemoryEngine(() => now)
    const limits = { rpm: 10, tpm: 100, concurrent: 2 }
    for (let key = 0; key < 50_000; key++) {
      now += 100
      const step = { key: `k${key}`, limits, requests: 1, tokens: 20, cost: 0, enforced: true }
      engine.step({ ...step, enter: 'o.1' })
      engine.step({ ...step, requests: 0, tokens: 0, enforced: false, leave: 'o.1' })
    }
    expect(engine.size).toBeLessThan(3000)
  })
})

describe('places', () => {
  const actions = fc.array(
    fc.record({
      kind: fc.constantFrom('enter', 'leave', 'settle', 'twice', 'fail', 'work' as const),
      which: fc.nat(50),
    }),
    { maxLength: 80, size: 'max' },
  )

  it.each(['memory', 'primary'] as const)(
    'are all free when no request runs any more, however requests ended: counted by %s',
    async where => {
      await fc.assert(
        fc.asyncProperty(actions, async list => {
          const engine = new MemoryEngine()
          let fails = false
          const ask = async (steps: Parameters<typeof takeSteps>[1]) => {
            // Fails before or after the steps were counted.
            if (fails && steps.length % 2 === 0) throw new Error('no primary')
            const states = await takeSteps(engine, steps)
            if (fails) throw new Error('no answer')
            return states
          }
          const limits = new Limits(where === 'memory' ? {} : { ask, owner: 'w' })
          const settings = { concurrent: 5 }
          const running: Reservation[] = []
          for (const { kind, which } of list) {
            const one = running[which % Math.max(1, running.length)]
            if (kind === 'fail' || kind === 'work') fails = kind === 'fail'
            else if (kind === 'enter') {
              const allowance = limits.of('k', settings)
              const isIn = await Promise.resolve()
                .then(() => allowance.enter())
                .then(
                  () => true,
                  () => false,
                )
              if (isIn) running.push(allowance)
              else allowance.leave()
            } else if (one !== undefined) {
              if (kind === 'settle' && which % 2 === 0) one.settleUncounted()
              else if (kind === 'settle') one.settle({ input: 1 })
              else one.leave()
              if (kind === 'twice') one.leave()
              running.splice(running.indexOf(one), 1)
            }
          }
          for (const one of running) one.leave()
          fails = false
          await pause(1)
          await until(() => !limits.isAlone, 10_000)
          const last = Array.from({ length: 6 }, () => limits.of('k', settings))
          const entered = await Promise.allSettled(last.map(async allowance => allowance.enter()))
          expect(entered.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
          limits.close()
        }),
        // An outage takes half a second.
        { numRuns: where === 'memory' ? 100 : Math.min(20, Math.ceil(RUNS / 15)) },
      )
    },
  )
})
