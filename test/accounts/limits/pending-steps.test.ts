import { expect, test } from 'vitest'
import { type LimitStep, MemoryEngine } from '../../../src/accounts/limits/engine.ts'
import { PendingSteps } from '../../../src/accounts/limits/pending-steps.ts'

const NOW = Date.UTC(2026, 10, 22, 12)
const LIMITS = { rpm: 10, tpm: 100, concurrent: 5, day: 1000 }
const NOTHING = { requests: 0, tokens: 0, cost: 0, enforced: false }

const step = (more: Partial<LimitStep> = {}): LimitStep => ({ key: 'k', limits: LIMITS, ...NOTHING, ...more })

/** Pending steps over counts of this process, in which the key has spent 50 of its budget. */
function pending() {
  const local = new MemoryEngine(() => NOW)
  local.step(step({ requests: 1, cost: 50, initial: { day: 0, month: 0, at: NOW } }))
  return { local, steps: new PendingSteps(local) }
}

const all = (steps: PendingSteps): readonly LimitStep[] => {
  const found: LimitStep[] = []
  for (let one = steps.next(); one !== undefined; one = steps.next()) found.push(one)
  return found
}

test('releases are transferred first, then costs with what was spent before, levels, and slots', () => {
  const { steps } = pending()
  steps.add(step({ requests: 1, cost: 20, enter: 'a.1' }), false)
  steps.add(step({ cost: 10, leave: 'a.0' }), false)
  const [release, cost, level, slot, ...others] = all(steps)
  expect(release).toEqual(step({ leave: 'a.0' }))
  expect(cost).toEqual(step({ cost: 30, initial: { day: 20, month: 0, at: NOW } }))
  expect(level).toEqual(step({ atMost: { requests: 9, tokens: 100, at: expect.any(Number) } }))
  expect(level!.atMost!.at).toBeGreaterThan(NOW - 1e12)
  expect(slot).toEqual(step({ enter: 'a.1' }))
  expect(others).toEqual([])
})

test('of what may be counted already, refunds are transferred and costs are not', () => {
  const { steps } = pending()
  steps.add(step({ cost: 20 }), true)
  expect(all(steps)).toEqual([])
  // The shared counts may have counted the cost of a step that was refused here, or is repeated.
  steps.refund(step({ cost: 20 }))
  steps.add(step({ cost: -5 }), true)
  const [refund, ...others] = all(steps)
  expect([refund!.cost, others]).toEqual([-25, []])
  steps.putBack(refund!, true)
  expect(all(steps).map(({ cost }) => cost)).toEqual([-25])
})

test('what was spent before is never negative, and left out if it is unknown', () => {
  const { steps, local } = pending()
  steps.add(step({ cost: 70 }), false)
  expect(steps.next()).toMatchObject({ cost: 70, initial: { day: 0, month: 0 } })
  local.close()
  steps.add(step({ cost: 70 }), false)
  expect(steps.next()).toEqual(step({ cost: 70 }))
})

test('only what a limit counts is transferred', () => {
  const { steps } = pending()
  const without = (name: keyof typeof LIMITS) => ({ ...LIMITS, [name]: undefined })
  steps.add(step({ limits: without('concurrent'), enter: 'a.1' }), false)
  steps.add(step({ limits: without('day'), cost: 5 }), false)
  steps.add(step({ limits: without('rpm'), requests: 1 }), false)
  steps.add(step({ limits: without('tpm'), tokens: 1 }), false)
  steps.add(step(), false)
  expect(all(steps)).toEqual([])
  steps.add(step({ limits: { month: 9 }, cost: 5 }), false)
  steps.add(step({ limits: { tpm: 9 }, tokens: -1 }), false)
  expect(all(steps).map(({ cost, atMost }) => [cost, atMost === undefined])).toEqual([
    [5, true],
    [0, false],
  ])
})

test('a cost that may be counted is not transferred, and its slot is released', () => {
  const { steps } = pending()
  steps.add(step({ cost: 5 }), true)
  steps.releasePossiblyCounted(step({ enter: 'a.1' }))
  steps.releasePossiblyCounted(step())
  expect(all(steps)).toEqual([step({ leave: 'a.1' })])
})

test('a slot that is released meanwhile is not transferred', () => {
  const { steps } = pending()
  expect(steps.forgetSlot('a.1')).toBe(false)
  for (const enter of ['a.1', 'a.2', 'a.3']) steps.add(step({ enter }), false)
  steps.add(step({ leave: 'a.1' }), false)
  expect([steps.forgetSlot('a.2'), steps.forgetSlot('a.2'), steps.forgetSlot(undefined)]).toEqual([true, false, false])
  expect(all(steps)).toEqual([step({ enter: 'a.3' })])
})

test('slots of an owner that ended are forgotten, and no others', () => {
  const { steps } = pending()
  for (const enter of ['a.1', 'ab.1', 'b.a.', 'a.2']) steps.add(step({ enter }), false)
  steps.leaveAll('a')
  expect(all(steps).map(({ enter }) => enter)).toEqual(['ab.1', 'b.a.'])
})

test('a step that could not be transferred is transferred later, unless it is obsolete', () => {
  const { steps } = pending()
  const initial = { day: 1, month: 1, at: NOW }
  steps.add(step({ cost: 2 }), false)
  steps.putBack(step({ cost: 3, initial }), false)
  steps.putBack(step({ cost: 100, initial }), true)
  steps.putBack(step({ key: 'l', atMost: { requests: 1, at: 5 } }), false)
  steps.putBack(step({ leave: 'a.1' }), false)
  steps.putBack(step({ enter: 'a.2' }), false)
  // The slot was released while it was on its way.
  steps.putBack(step({ enter: 'a.1' }), false)
  expect(all(steps)).toEqual([
    step({ leave: 'a.1' }),
    step({ cost: 5, initial: { day: 45, month: 0, at: NOW } }),
    step({ key: 'l', atMost: { requests: 10, tokens: 100, at: expect.any(Number) } }),
    step({ enter: 'a.2' }),
  ])
})

test('no more than 100,000 slots wait, and known ones are still replaced', () => {
  const { steps } = pending()
  for (let slot = 0; slot <= 100_000; slot++) steps.add(step({ enter: `a.${slot}` }), false)
  steps.add(step({ key: 'l', enter: 'a.0' }), false)
  const found = all(steps)
  expect([found.length, found[0]!.key, found.at(-1)!.enter]).toEqual([100_000, 'l', 'a.99999'])
})
