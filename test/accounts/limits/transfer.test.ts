import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type LimitStep, MemoryEngine } from '../../../src/accounts/limits/engine.ts'
import { PrimaryCounts, takeSteps } from '../../../src/accounts/limits/remote-engine.ts'
import { type SharedCounts, SharedEngine } from '../../../src/accounts/limits/shared-engine.ts'

/* What a process that counted alone sends to the shared counts when they are back. */

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const NOTHING = { requests: 0, tokens: 0, cost: 0, enforced: false }
const LIMITS = { concurrent: 2, day: 1000 }
const initial = { day: 0, month: 0, at: 0 }
const step = (more: Partial<LimitStep>): LimitStep => ({ key: 'k', limits: LIMITS, ...NOTHING, ...more })

/** Shared counts with a switch, and what they were sent. */
function shared(more: Partial<SharedCounts> = {}) {
  const state = { isAway: false, mayBeCounted: false, sent: [] as LimitStep[], left: [] as string[], closed: 0 }
  const counts: SharedCounts = {
    ...{ isUp: true, acceptsPossiblyCounted: true, mayBeCounted: () => state.mayBeCounted },
    async step(one) {
      if (state.isAway) throw new Error('away')
      state.sent.push(one)
      return {}
    },
    async probe() {
      if (state.isAway) throw new Error('away')
    },
    leaveAll: owner => void state.left.push(owner),
    close: () => void state.closed++,
    ...more,
  }
  const local = new MemoryEngine()
  return { state, counts, local, engine: new SharedEngine(counts, { local }) }
}

const back = () => vi.advanceTimersByTimeAsync(600)

test('costs, slots and releases are sent once, in the order of their use', async () => {
  const { state, engine, local } = shared()
  state.isAway = true
  await engine.step(step({ enter: 'a.1', cost: 5, initial }))
  await engine.step(step({ leave: 'a.0', cost: 2 }))
  expect([engine.isShared, engine.missed, local.size]).toEqual([false, 2, 1])
  state.isAway = false
  await back()
  expect(state.sent).toMatchObject([{ leave: 'a.0' }, { cost: 7 }, { enter: 'a.1' }])
  expect([engine.isShared, engine.missed, local.size]).toEqual([true, 2, 0])
  await engine.step(step({ cost: 1 }))
  expect(state.sent).toHaveLength(4)
  engine.close()
})

test('a transfer that fails goes on later with what is left', async () => {
  const { state, counts, engine } = shared()
  state.isAway = true
  await engine.step(step({ enter: 'a.1', cost: 5, initial }))
  state.isAway = false
  const works = counts.step
  const fails = vi.fn(async (one: LimitStep) => {
    state.isAway = true
    return Promise.reject(new Error(`away at ${one.cost}`))
  })
  Object.assign(counts, { step: fails })
  await back()
  expect([engine.isShared, fails.mock.calls.length]).toEqual([false, 1])
  Object.assign(counts, { step: works })
  state.isAway = false
  await back()
  expect(state.sent).toMatchObject([{ cost: 5 }, { enter: 'a.1' }])
  expect(engine.isShared).toBe(true)
  engine.close()
})

test('a cost of yesterday is counted in its day, even if the shared counts are back today', async () => {
  const primary = new MemoryEngine()
  const { state, engine } = shared()
  vi.setSystemTime(Date.UTC(2026, 10, 28, 23, 50))
  const known = { day: 10, month: 10, at: Date.now() }
  primary.step(step({ initial: known }))
  state.isAway = true
  await engine.step(step({ cost: 400, initial: known }))
  vi.setSystemTime(Date.UTC(2026, 10, 29, 0, 10))
  await engine.step(step({ cost: -100, reservedAt: Date.UTC(2026, 10, 28, 23, 50) }))
  await engine.step(step({ cost: 5 }))
  state.isAway = false
  await back()
  for (const one of state.sent) primary.step(one)
  expect(primary.spent('k', LIMITS)).toMatchObject({ day: 5 })
  vi.setSystemTime(Date.UTC(2026, 10, 28, 23, 59))
  expect(primary.spent('k', LIMITS)).toMatchObject({ day: 310 })
  engine.close()
})

test('a cost that may be counted is not sent again, and its slot is released', async () => {
  const { state, engine } = shared()
  state.isAway = true
  state.mayBeCounted = true
  await engine.step(step({ enter: 'a.1', cost: 5, initial }))
  await engine.step(step({ cost: 2, isPossiblyCounted: true }))
  await engine.step(step({ cost: 1 }))
  state.isAway = false
  await back()
  expect(state.sent).toMatchObject([{ leave: 'a.1' }, { cost: 1 }, { enter: 'a.1' }])
  engine.close()
})

test('a step that may be counted is counted here if the shared counts must not get it', async () => {
  const { state, engine } = shared({ acceptsPossiblyCounted: false })
  await engine.step(step({ cost: 2, isPossiblyCounted: true }))
  expect([state.sent, engine.missed, engine.isShared]).toEqual([[], 1, true])
  await engine.step(step({ cost: 3 }))
  expect(state.sent).toMatchObject([{ cost: 3 }])
  engine.close()
})

test('the primary counts a step that Redis may have counted', async () => {
  const primary = new MemoryEngine()
  const ask = vi.fn(async (steps: readonly LimitStep[]) => takeSteps(primary, steps))
  const engine = new SharedEngine(new PrimaryCounts(ask), { local: new MemoryEngine() })
  const taking = engine.step(step({ cost: 2, initial, isPossiblyCounted: true }))
  await vi.advanceTimersByTimeAsync(10)
  await taking
  expect([ask.mock.calls.length, engine.missed]).toEqual([1, 0])
  engine.close()
})

test('counts without a connection are not asked, and nothing is sent before it is back', async () => {
  const { state, counts, engine } = shared()
  const probe = vi.fn(async () => {})
  Object.assign(counts, { isUp: false, probe })
  await engine.step(step({ cost: 2 }))
  await back()
  expect([engine.isShared, probe.mock.calls.length, state.sent]).toEqual([false, 0, []])
  Object.assign(counts, { isUp: true })
  await back()
  expect([engine.isShared, state.sent.length]).toEqual([true, 1])
  engine.close()
})

test('a connection that is lost while counts are sent stops the transfer', async () => {
  const { state, counts, engine } = shared()
  state.isAway = true
  await engine.step(step({ cost: 2, leave: 'a.0' }))
  state.isAway = false
  Object.assign(counts, {
    async step(one: LimitStep) {
      state.sent.push(one)
      Object.assign(counts, { isUp: false })
      return {}
    },
  })
  await back()
  expect([engine.isShared, state.sent]).toMatchObject([false, [{ leave: 'a.0' }]])
  engine.close()
})

test('a refused step is not sent', async () => {
  const { state, engine } = shared()
  state.isAway = true
  const enter = (name: string) => engine.step(step({ enter: name, enforced: true, initial }))
  await enter('a.1')
  await enter('a.2')
  expect(await enter('a.3')).toMatchObject({ refused: { limit: 'concurrent' } })
  expect(await engine.step(step({ key: 'other', enforced: true, enter: 'a.4' }))).toMatchObject({ unknown: true })
  state.isAway = false
  await back()
  expect(state.sent).toMatchObject([{ enter: 'a.1' }, { enter: 'a.2' }])
  engine.close()
})

test('a slot that was taken here and is released there is free here, too', async () => {
  const { state, engine, local } = shared()
  state.isAway = true
  await engine.step(step({ enter: 'a.1', limits: { concurrent: 1 } }))
  state.isAway = false
  // The slot is released between the end of the outage and the transfer of the slot.
  const leaving = vi.spyOn(local, 'step')
  Object.defineProperty(engine, 'isShared', { value: true })
  await engine.step(step({ leave: 'a.1', limits: { concurrent: 1 } }))
  expect(leaving.mock.calls.map(([one]) => one)).toEqual([step({ leave: 'a.1', limits: { concurrent: 1 } })])
  expect(state.sent).toMatchObject([{ leave: 'a.1' }])
  engine.close()
})

test('an owner that ended leaves the slots of all counts, and the end closes all', async () => {
  const { state, engine, local } = shared()
  state.isAway = true
  await engine.step(step({ enter: 'a.1' }))
  const leaving = vi.spyOn(local, 'leaveAll')
  engine.leaveAll('a')
  expect([state.left, leaving.mock.calls]).toEqual([['a'], [['a']]])
  engine.close()
  expect([state.closed, local.size, vi.getTimerCount()]).toEqual([1, 0, 0])
})
