import { describe, expect, it, vi } from 'vitest'
import { MemoryEngine } from '../../../src/accounts/limits/engine.ts'
import { Limits } from '../../../src/accounts/limits/index.ts'
import { takeSteps } from '../../../src/accounts/limits/remote-engine.ts'
import type { CostOf } from '../../../src/accounts/limits/reservation.ts'

const size = () => ({ input: 100, output: 50 })

describe('the cost of another model', () => {
  it('is asked for with the expected size, if a budget applies and the size is known', async () => {
    const limits = new Limits()
    const costOf = vi.fn<CostOf>(() => 5)
    const free = limits.of('free', { tpm: 1000 })
    await free.enter()
    await free.reserve(size, 100)
    expect(free.cover(costOf)).toBeUndefined()
    const paid = limits.of('paid', { budget: { day: 1 } })
    await paid.enter()
    expect(paid.cover(costOf)).toBeUndefined()
    expect(costOf).not.toHaveBeenCalled()
    await paid.reserve(size, 100)
    await paid.cover(costOf)
    expect(costOf.mock.calls).toEqual([[{ input: 100, output: 50 }]])
  })

  it('is reserved as far as it is higher, and settled with what was spent', async () => {
    const limits = new Limits()
    const settings = { budget: { day: 10e-9 } }
    const one = limits.of('k', settings)
    await one.enter()
    await one.reserve(size, 100, () => 4)
    await one.cover(() => 2)
    await one.cover(() => 6)
    const other = limits.of('k', settings)
    await other.enter()
    expect(() => other.reserve(size, 100, () => 5)).toThrow('budget')
    one.settle({ input: 1 }, 1)
    await other.enter()
    await other.reserve(size, 100, () => 9)
  })
})

it('what is left is known after a step that nobody waits for, also where another process counts', async () => {
  const engine = new MemoryEngine(() => 0)
  const limits = new Limits({ ask: async steps => takeSteps(engine, steps), now: () => 0 })
  const one = limits.of('k', { rpm: 9 })
  expect(one.remaining.requests).toBeUndefined()
  one.look()
  await vi.waitFor(() => expect(one.remaining.requests).toEqual({ limit: 9, remaining: 9, reset: 0 }))
  limits.close()
})
