import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { MemoryEngine } from '../../../src/accounts/limits/engine.ts'
import { Limits } from '../../../src/accounts/limits/index.ts'
import type { Reservation } from '../../../src/accounts/limits/reservation.ts'
import { runsOf } from '../../models/runs.ts'

/*
 * Two workers that hold quota, and a key whose limits change while its requests run: budgets are removed and set again.
 * Once no request runs, the primary has what the usage rows state.
 */

const BUDGETS = [{ budget: { day: 50, month: 90 } }, { budget: { day: 40 } }, { budget: { month: 80 } }, { rpm: 1000 }]
const [ALL] = BUDGETS
const DOLLAR = 1e9

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2026, 10, 29, 12) }))
afterEach(() => void vi.useRealTimers())

const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('begin' as const), at: fc.nat(1), cost: fc.nat(20) }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('end' as const), at: fc.nat(5), cost: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('limit' as const), to: fc.nat(BUDGETS.length - 1) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('wait' as const), milliseconds: fc.nat(120) }) },
)

type Action = typeof action extends fc.Arbitrary<infer A> ? A : never

const begins = (count: number, cost: number): Action[] =>
  Array.from({ length: count }, () => ({ does: 'begin', at: 0, cost }))
const wait: Action = { does: 'wait', milliseconds: 60 }

/** A worker that holds requests of a key without a budget settles one that reserved while the key had one. */
const SETTLED_WITHOUT_BUDGET: Action[] = [
  ...begins(1, 20),
  { does: 'limit', to: 3 },
  ...begins(8, 0),
  wait,
  ...begins(8, 0),
  { does: 'end', at: 0, cost: 1 },
  { does: 'limit', to: 0 },
]

test('budgets that are removed and set again while requests run count what the rows state', async () => {
  const law = fc.asyncProperty(fc.array(action, { maxLength: 60, size: 'max' }), async actions => {
    const primary = new Limits()
    let rows = 0
    /** Rows that each worker has not written yet. It writes them once a second, and before it reads. */
    const queued = [0, 0]
    const write = (at: number): void => {
      rows += queued[at]!
      queued[at] = 0
    }
    const timers = [0, 1].map(at => setInterval(() => write(at), 1000))
    const workers = [0, 1].map(at => {
      const spent = async () => {
        write(at)
        return { day: rows, month: rows }
      }
      const spentBy = async () => new Map([['k', { day: rows, month: rows }]])
      return new Limits({ ask: steps => primary.take(steps), owner: `w${at}`, spent, spentBy })
    })
    let settings: object = ALL!
    const running: { readonly at: number; readonly reservation: Reservation }[] = []
    const begin = async (at: number, cents: number): Promise<void> => {
      const reservation = workers[at]!.of('k', settings)
      const cost = () => (cents * DOLLAR) / 100
      const entering = (async () => {
        await reservation.enter()
        await reservation.reserve(() => ({ input: 1, output: 1 }), undefined, cost)
      })()
      await vi.advanceTimersByTimeAsync(2)
      await entering
      running.push({ at, reservation })
    }
    const end = async (one: (typeof running)[number] | undefined, cents: number): Promise<void> => {
      if (one === undefined) return
      one.reservation.settle({ input: 1, output: 1 }, (cents * DOLLAR) / 100)
      queued[one.at]! += (cents * DOLLAR) / 100
    }
    for (const one of actions)
      if (one.does === 'begin') await begin(one.at, one.cost)
      else if (one.does === 'end') await end(running.splice(one.at, 1)[0], one.cost)
      else if (one.does === 'limit') settings = BUDGETS[one.to]!
      else await vi.advanceTimersByTimeAsync(one.milliseconds)
    for (const one of running.splice(0)) await end(one, 1)
    settings = ALL!
    for (const at of [0, 1]) {
      await begin(at, 1)
      await end(running.pop(), 1)
    }
    await vi.advanceTimersByTimeAsync(70_000)
    const counted = (primary.engine as MemoryEngine).spent('k', { day: 1, month: 1 })
    expect(counted).toMatchObject({ day: rows, month: rows })
    for (const one of [...workers, primary]) one.close()
    for (const timer of timers) clearInterval(timer)
  })
  await fc.assert(law, { numRuns: runsOf(100), examples: [[SETTLED_WITHOUT_BUDGET]] })
})
