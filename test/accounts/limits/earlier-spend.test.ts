import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { EarlierSpend } from '../../../src/accounts/limits/earlier-spend.ts'

const NOW = 1_000_000
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Spend that is read from a store with a switch. */
function store() {
  const state = {
    now: NOW,
    reads: [] as string[],
    mode: 'works' as 'works' | 'fails' | 'hangs',
    events: [] as string[],
  }
  const spend = new EarlierSpend({
    async read(key, at) {
      state.reads.push(`${key} ${at}`)
      if (state.mode === 'fails') throw new Error('no store')
      if (state.mode === 'hangs') await new Promise(() => {})
      return { day: 1, month: 2 }
    },
    now: () => state.now,
    onFault: thrown => state.events.push(String((thrown as Error).message)),
    onRecovery: () => state.events.push('back'),
  })
  return { state, spend }
}

test('concurrent requests of a key share a read, with its time; later ones and other keys read again', async () => {
  const { state, spend } = store()
  const all = await Promise.all([spend.of('k'), spend.of('k'), spend.of('l')])
  expect(all).toEqual(all.map(() => ({ day: 1, month: 2, at: NOW })))
  expect(state.reads).toEqual([`k ${NOW}`, `l ${NOW}`])
  state.now += 7
  expect(await spend.of('k')).toEqual({ day: 1, month: 2, at: NOW + 7 })
  expect([state.reads.length, state.events]).toEqual([3, []])
})

test('a failed read is repeated after five seconds, and the recovery is told once', async () => {
  const { state, spend } = store()
  state.mode = 'fails'
  expect(await spend.of('k')).toBeUndefined()
  state.mode = 'works'
  for (const later of [0, 4999]) {
    state.now = NOW + later
    expect(await spend.of('k')).toBeUndefined()
  }
  expect(state.reads).toHaveLength(1)
  state.now = NOW + 5000
  expect(await spend.of('k')).toMatchObject({ day: 1 })
  await spend.of('k')
  expect(state.events).toEqual(['no store', 'back'])
})

test('a clock that was set back does not prolong the pause', async () => {
  const { state, spend } = store()
  state.mode = 'fails'
  await spend.of('k')
  state.mode = 'works'
  state.now = NOW - 1
  expect(await spend.of('k')).toMatchObject({ at: NOW - 1 })
})

test('a read that takes longer than two seconds counts as failed', async () => {
  const { state, spend } = store()
  state.mode = 'hangs'
  const reading = spend.of('k')
  await vi.advanceTimersByTimeAsync(1999)
  expect(state.events).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(await reading).toBeUndefined()
  expect(state.events).toEqual(['the store took longer than 2000 ms'])
  expect(vi.getTimerCount()).toBe(0)
})

test('a read in time leaves no timer behind', async () => {
  const { spend } = store()
  await spend.of('k')
  expect(vi.getTimerCount()).toBe(0)
})
