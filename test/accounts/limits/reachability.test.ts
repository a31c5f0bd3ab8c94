import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { NOT_CONNECTED, Reachability } from '../../../src/accounts/limits/reachability.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Reachability of counts that are away until `isBack`. */
function watched() {
  const state = { isBack: false, probes: 0, events: [] as unknown[] }
  const reach: Reachability = new Reachability({
    async probe() {
      state.probes++
      if (!state.isBack) throw new Error('away')
      reach.recovered()
    },
    onFault: thrown => state.events.push(thrown),
    onRecovery: () => state.events.push('back'),
  })
  return { state, reach }
}

test('counts that fail are probed every half second until they are back, and each change is told once', async () => {
  const { state, reach } = watched()
  expect(reach.isUp).toBe(true)
  reach.failed('first')
  reach.failed('second')
  expect([reach.isUp, state.events]).toEqual([false, ['first']])
  await vi.advanceTimersByTimeAsync(499)
  expect(state.probes).toBe(0)
  await vi.advanceTimersByTimeAsync(1001)
  expect([state.probes, reach.isUp]).toEqual([3, false])
  state.isBack = true
  await vi.advanceTimersByTimeAsync(500)
  expect([state.probes, reach.isUp, state.events]).toEqual([4, true, ['first', 'back']])
  await vi.advanceTimersByTimeAsync(5000)
  expect(state.probes).toBe(4)
  reach.failed('again')
  expect([reach.isUp, state.events.at(-1)]).toEqual([false, 'again'])
})

test('closed counts are not probed any more', async () => {
  const { state, reach } = watched()
  reach.failed('away')
  reach.close()
  await vi.advanceTimersByTimeAsync(5000)
  expect(state.probes).toBe(0)
  const { state: other, reach: closed } = watched()
  closed.close()
  closed.failed('away')
  expect([closed.isUp, other.events]).toEqual([true, []])
  await vi.advanceTimersByTimeAsync(5000)
  expect(other.probes).toBe(0)
})

test('a probe that fails after the end starts no other one', async () => {
  const ended = Promise.withResolvers<void>()
  let probes = 0
  const reach = new Reachability({
    async probe() {
      probes++
      await ended.promise
    },
  })
  reach.failed('away')
  await vi.advanceTimersByTimeAsync(500)
  reach.close()
  ended.reject(new Error('away'))
  await vi.advanceTimersByTimeAsync(5000)
  expect(probes).toBe(1)
})

test('listeners may be missing, and the error of a missing connection says so', () => {
  const reach = new Reachability({ probe: async () => {} })
  reach.failed(NOT_CONNECTED)
  reach.recovered()
  expect([reach.isUp, NOT_CONNECTED.message]).toEqual([true, 'not connected to the shared counts'])
})
