import { describe, expect, test } from 'vitest'
import { type KeyLimits, type LimitState, type LimitStep, NO_AMOUNTS } from '../../../src/accounts/limits/engine.ts'
import { HeldQuota } from '../../../src/accounts/limits/held-quota.ts'

/* What one key holds, limit by limit. */

const NOW = Date.UTC(2026, 10, 29, 12)
const DAY = 86_400_000
/** Steps of a key between two adjustments from which it is busy, and how much more is held than they took. */
const [BUSY, TIMES] = [4, 2]
const AMPLE = 16

const stepOf = (limits: KeyLimits, more: Partial<LimitStep> = {}): LimitStep => ({
  ...{ ...NO_AMOUNTS, key: 'k', limits, enforced: true, ...more },
})

/** Returns the quota of a key that has taken the same amounts a number of times. Everything that it wants is granted. */
function holding(limits: KeyLimits, state: LimitState, more: Partial<LimitStep> = {}, steps = BUSY) {
  const quota = new HeldQuota('k', limits)
  quota.learn(state, NOW)
  for (let number = 0; number < steps; number++) quota.count(stepOf(limits, more))
  const { taken } = quota.adjust(NOW)
  if (taken !== undefined) quota.answered(taken, true)
  return { quota, taken }
}

type Amount = 'requests' | 'tokens' | 'cost'
const LIMITS = [
  ['rpm', 'requests', left => ({ requests: left })],
  ['tpm', 'tokens', left => ({ tokens: left })],
  ['day', 'cost', left => ({ room: { concurrent: undefined, day: left, month: undefined } })],
  ['month', 'cost', left => ({ room: { concurrent: undefined, day: undefined, month: left } })],
] as const satisfies readonly (readonly [keyof KeyLimits, Amount, (left: number | undefined) => LimitState])[]

describe.each(LIMITS)('%s', (limit, amount, stateOf) => {
  const limits: KeyLimits = { [limit]: 1e9 }
  const others = { requests: 1e12, tokens: 1e12, cost: 1e12 }
  const wanted = BUSY * TIMES * 5
  const busy = (left: number | undefined) => holding(limits, stateOf(left), { [amount]: 5 })

  test('a busy key holds twice what it took, and no step takes more', () => {
    const { quota, taken } = busy(1e9)
    expect(taken).toMatchObject({ ...NO_AMOUNTS, [amount]: wanted, enforced: true })
    expect(quota.covers(stepOf(limits, { ...others, [amount]: wanted }), NOW)).toBe(true)
    expect(quota.covers(stepOf(limits, { [amount]: wanted + 1 }), NOW)).toBe(false)
    quota.take(stepOf(limits, { ...others, [amount]: wanted - 1 }))
    expect(quota.covers(stepOf(limits, { [amount]: 1 }), NOW)).toBe(true)
    expect(quota.covers(stepOf(limits, { [amount]: 2 }), NOW)).toBe(false)
    expect(quota.holdsAnything).toBe(true)
    quota.take(stepOf(limits, { [amount]: 1 }))
    expect(quota.holdsAnything).toBe(false)
  })

  test('nothing is held unless there is ample room', () => {
    expect(busy(AMPLE * wanted).taken).toBeDefined()
    for (const left of [AMPLE * wanted - 1, 0, -1, undefined]) {
      const { quota, taken } = busy(left)
      expect(taken).toBeUndefined()
      expect(quota.covers(stepOf(limits), NOW)).toBe(false)
      expect(quota.absorbs(stepOf(limits), NOW)).toBe(false)
    }
    expect(holding(limits, stateOf(1)).quota.covers(stepOf(limits), NOW)).toBe(true)
    expect(holding(limits, stateOf(0)).quota.covers(stepOf(limits), NOW)).toBe(false)
  })

  test('what is not used goes back, and debts are paid', () => {
    const { quota } = busy(1e9)
    quota.take(stepOf(limits, { ...others, [amount]: 10 }))
    expect(quota.adjust(NOW + 50)).toEqual({
      ...{ taken: undefined, slots: [] },
      returned: { ...NO_AMOUNTS, key: 'k', limits, [amount]: 10 - wanted, reservedAt: NOW },
    })
    const indebted = busy(1e9).quota
    indebted.take(stepOf(limits, { [amount]: wanted + 7 }))
    expect(indebted.isIdle).toBe(false)
    expect(indebted.holdsAnything).toBe(false)
    expect(indebted.adjust(NOW + 50).returned).toMatchObject({ [amount]: 7, enforced: false })
    expect(indebted.isIdle).toBe(true)
  })

  test('a refused step leaves nothing, and is repeated', () => {
    const quota = new HeldQuota('k', limits)
    quota.learn(stateOf(1e9), NOW)
    const adjusted = () => {
      for (let number = 0; number < BUSY; number++) quota.count(stepOf(limits, { [amount]: 5 }))
      return quota.adjust(NOW).taken!
    }
    const first = adjusted()
    expect(adjusted()).toBeUndefined()
    quota.answered(first, false)
    expect(quota.covers(stepOf(limits, { [amount]: 1 }), NOW)).toBe(false)
    expect(adjusted()).toEqual(first)
  })

  test('a change of the limit is another quota', () => {
    const { quota } = busy(1e9)
    expect(quota.isAbout(limits)).toBe(true)
    expect(quota.isAbout({ ...limits })).toBe(true)
    expect(quota.isAbout({ ...limits, [limit]: 1e9 + 1 })).toBe(false)
    expect(quota.isAbout({ ...limits, concurrent: 1 })).toBe(false)
  })
})

test('what is left includes what is held', () => {
  const limits = { rpm: 60_000, tpm: 600_000 }
  const { quota } = holding(limits, { requests: 1000, tokens: 50_000 }, { requests: 1, tokens: 10 })
  expect(quota.stateAt(NOW)).toEqual({ requests: 1008, tokens: 50_080 })
  expect(quota.stateAt(NOW + 10)).toEqual({ requests: 1018, tokens: 50_180 })
  expect(quota.learn({ requests: 900, tokens: 40_000 }, NOW)).toEqual({ requests: 908, tokens: 40_080 })
  expect(quota.learn({ unknown: true }, NOW)).toEqual({ unknown: true })
  expect(new HeldQuota('k', { concurrent: 1 }).stateAt(NOW)).toEqual({ requests: undefined, tokens: undefined })
  expect(quota.stateAt(NOW)).toEqual({ requests: 908, tokens: 40_080 })
})

test('a key with few steps, or with settling steps alone, holds nothing', () => {
  const [limits, state] = [{ rpm: 1e9 }, { requests: 1e9 }]
  expect(holding(limits, state, { requests: 1 }, BUSY - 1).taken).toBeUndefined()
  expect(holding(limits, state, { requests: 1, enforced: false }).taken).toBeUndefined()
  const { quota } = holding(limits, state, { requests: 1 })
  expect(quota.giveBack(NOW).returned).toMatchObject({ requests: -BUSY * TIMES })
  expect(quota.covers(stepOf(limits), NOW)).toBe(false)
})

test('tokens that are returned more than taken are no need', () => {
  expect(holding({ tpm: 1e9 }, { tokens: 1e9 }, { tokens: -3 }).taken).toBeUndefined()
})

test('a budget is of its day', () => {
  const limits = { day: 1e9 }
  const { quota } = holding(limits, { room: { concurrent: undefined, day: 1e9, month: undefined } }, { cost: 5 })
  const settling = (more: Partial<LimitStep>) => stepOf(limits, { enforced: false, ...more })
  expect(quota.absorbs(settling({ cost: -1, reservedAt: NOW - DAY }), NOW)).toBe(false)
  expect(quota.absorbs(settling({ cost: -1, reservedAt: NOW - 1 }), NOW)).toBe(true)
  expect(quota.absorbs(settling({ cost: -1 }), NOW)).toBe(true)
  expect(quota.absorbs(settling({ cost: 0, reservedAt: NOW - DAY }), NOW)).toBe(true)
  expect(quota.covers(stepOf(limits), NOW + DAY)).toBe(false)
  expect(quota.absorbs(settling({}), NOW + DAY)).toBe(false)
  for (let number = 0; number < BUSY; number++) quota.count(stepOf(limits, { cost: 5 }))
  expect(quota.adjust(NOW + DAY)).toMatchObject({ returned: { cost: -40, reservedAt: NOW }, taken: undefined })
})

describe('slots', () => {
  const limits = { concurrent: 100 }
  const left = (concurrent: number | undefined) => ({ room: { concurrent, day: undefined, month: undefined } })
  const entering = stepOf(limits, { enter: 'p.1' })
  const leaving = stepOf(limits, { leave: 'p.1', enforced: false })

  test('are taken over by later requests', () => {
    const { quota } = holding(limits, left(100))
    expect(quota.covers(entering, NOW)).toBe(false)
    expect(quota.covers(stepOf(limits), NOW)).toBe(true)
    quota.keepSlot('p.1')
    expect([quota.covers(entering, NOW), quota.holdsAnything, quota.isIdle]).toEqual([true, true, false])
    expect(quota.takeSlot()).toBe('p.1')
    expect([quota.covers(entering, NOW), quota.holdsAnything, quota.isIdle]).toEqual([false, false, true])
    expect(quota.takeSlot()).toBeUndefined()
  })

  test('are kept up to a sixteenth of those that are free', () => {
    for (const [free, kept] of [
      [2 * AMPLE, 2],
      [2 * AMPLE - 1, 1],
      [AMPLE - 1, 0],
    ] as const) {
      const { quota } = holding(limits, left(free))
      for (let number = 0; number < kept; number++) {
        expect(quota.absorbs(leaving, NOW)).toBe(true)
        quota.keepSlot(`p.${number}`)
      }
      expect(quota.absorbs(leaving, NOW)).toBe(false)
      expect(quota.absorbs(stepOf(limits, { enforced: false }), NOW)).toBe(true)
    }
    expect(holding(limits, left(undefined)).quota.absorbs(leaving, NOW)).toBe(false)
    expect(holding(limits, {}).quota.absorbs(leaving, NOW)).toBe(false)
  })

  test('need no name without a limit', () => {
    const unlimited = { rpm: 1e9 }
    const { quota } = holding(unlimited, { requests: 1e9 }, { requests: 1 })
    expect(quota.covers({ ...entering, limits: unlimited }, NOW)).toBe(true)
    expect(quota.absorbs({ ...leaving, limits: unlimited }, NOW)).toBe(true)
  })

  test('are released if no request needed them since the last adjustment', () => {
    const { quota } = holding(limits, left(100))
    const busy = () => {
      for (let number = 0; number < BUSY; number++) quota.count(stepOf(limits))
      return quota.adjust(NOW).slots
    }
    for (const name of ['a', 'b', 'c']) quota.keepSlot(name)
    expect(busy()).toEqual([])
    const taken = [quota.takeSlot()!, quota.takeSlot()!]
    for (const name of taken) quota.keepSlot(name)
    expect(taken).toEqual(['c', 'b'])
    expect(busy()).toEqual(['a'])
    expect(quota.adjust(NOW).slots).toEqual(['c', 'b'])
    expect(quota.releaseOf('c')).toEqual({ ...NO_AMOUNTS, key: 'k', limits, leave: 'c' })
  })
})
