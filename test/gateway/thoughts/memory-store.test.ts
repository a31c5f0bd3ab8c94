import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { idKey } from '../../../src/gateway/thoughts/call-keys.ts'
import { MemoryStore } from '../../../src/gateway/thoughts/memory-store.ts'
import type { AnswerReasoning } from '../../../src/gateway/thoughts/types.ts'
import { TIMED } from '../../builders/time.ts'
import { HOUR } from '../../builders/units.ts'

let now = 0
beforeEach(() => {
  now = 1_000_000
})
afterEach(() => vi.useRealTimers())

const storeOf = (memory = 2 ** 20, keep = HOUR): MemoryStore => new MemoryStore({ retention: keep, memory }, () => now)

const thinking = (text: string): AnswerReasoning => ({
  ...{ format: 'chat', issuer: 'i' },
  steps: [{ lead: [], next: [{ type: 'reasoning', text }] }],
})

const keep = (store: MemoryStore, owner: string, id: string, text = 'so') =>
  store.save(owner, [[idKey(id)]], thinking(text))
const knows = (store: MemoryStore, owner: string, id: string): boolean => store.find(owner, idKey(id)) !== undefined

test('two owners with the same id of a call have each their own', () => {
  const store = storeOf()
  keep(store, 'ann', 'c1', 'hers')
  keep(store, 'bob', 'c1', 'his')
  const wordsOf = (owner: string) => store.find(owner, idKey('c1'))?.reasoning.steps[0]?.next[0]?.text
  expect([wordsOf('ann'), wordsOf('bob'), wordsOf('eve')]).toEqual(['hers', 'his', undefined])
  expect(store.holds('eve')).toBe(false)
})

describe('time', () => {
  test('what is not used for a while is forgotten, what is used stays', () => {
    const store = storeOf()
    keep(store, 'ann', 'idle')
    keep(store, 'ann', 'used')
    now += HOUR - 1
    expect(knows(store, 'ann', 'used')).toBe(true)
    now += 2
    expect(knows(store, 'ann', 'idle')).toBe(false)
    expect(knows(store, 'ann', 'used')).toBe(true)
    now += HOUR
    expect(knows(store, 'ann', 'used')).toBe(false)
    expect(store.holds('ann')).toBe(false)
    expect(store.size).toBe(0)
  })

  test('one timer forgets what nobody asks for', () => {
    vi.useFakeTimers()
    const store = new MemoryStore({ retention: HOUR, memory: 2 ** 20 })
    for (let index = 0; index < 100; index++) keep(store, 'ann', `c${index}`)
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(HOUR)
    expect(store.size).toBe(0)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('a keep of months is no timer that goes off at once', () => {
    vi.useFakeTimers()
    const store = new MemoryStore({ retention: 365 * 24 * HOUR, memory: 2 ** 20 })
    keep(store, 'ann', 'c')
    vi.advanceTimersByTime(100 * 24 * HOUR)
    expect(store.size).toBeGreaterThan(0)
    expect(knows(store, 'ann', 'c')).toBe(true)
    store.clear()
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('bytes', () => {
  const LIMIT = 100_000
  const BIG = 'x'.repeat(4000)

  test('there are never more than the limit, and the oldest go first', () => {
    const store = storeOf(LIMIT)
    for (let index = 0; index < 100; index++) {
      keep(store, 'ann', `c${index}`, BIG)
      expect(store.size).toBeLessThanOrEqual(LIMIT)
    }
    expect([knows(store, 'ann', 'c0'), knows(store, 'ann', 'c99')]).toEqual([false, true])
  })

  test('one owner’s flood empties no other’s', () => {
    const store = storeOf(LIMIT)
    for (const owner of ['ann', 'bob', 'eve']) for (const id of ['c1', 'c2']) keep(store, owner, id, BIG)
    for (let index = 0; index < 1000; index++) keep(store, 'flood', `f${index}`, BIG)
    for (const owner of ['ann', 'bob', 'eve'])
      for (const id of ['c1', 'c2']) expect(knows(store, owner, id), owner).toBe(true)
    expect(store.size).toBeLessThanOrEqual(LIMIT)
  })

  test('nor do many owners with little each push out the newest', () => {
    const store = storeOf(LIMIT)
    for (let index = 0; index < 1000; index++) keep(store, `owner ${index}`, 'c', BIG)
    expect(knows(store, 'owner 999', 'c')).toBe(true)
    expect(store.size).toBeLessThanOrEqual(LIMIT)
  })

  test('what is larger than all there is room for is not kept', () => {
    const store = storeOf(4000)
    keep(store, 'ann', 'small', '')
    keep(store, 'ann', 'c', BIG)
    expect([knows(store, 'ann', 'c'), knows(store, 'ann', 'small')]).toEqual([false, true])
  })

  test('all is counted out that was counted in, whatever takes the place of what', () => {
    const store = storeOf(LIMIT)
    store.save('ann', [['id a', 'at 1'], ['id b']], thinking(BIG))
    store.save('ann', [['id a']], thinking('other'))
    expect(store.find('ann', 'at 1')?.step).toBe(0)
    expect(store.find('ann', 'id b')?.step).toBe(1)
    expect(store.find('ann', 'id a')?.reasoning).toEqual(thinking('other'))
    expect(store.holdsPositionKeys('ann')).toBe(true)
    store.save('ann', [['at 1'], ['id b']], thinking('new'))
    store.clear()
    expect([store.size, store.holds('ann'), store.holdsPositionKeys('ann')]).toEqual([0, false, false])
  })

  test('it takes no longer however much is kept', TIMED, () => {
    const store = storeOf(2 ** 30)
    const timed = (from: number): number => {
      const began = performance.now()
      for (let index = from; index < from + 20_000; index++) keep(store, `owner ${index % 100}`, `c${index}`)
      return performance.now() - began
    }
    const first = timed(0)
    for (let round = 1; round < 5; round++) timed(round * 20_000)
    expect(timed(100_000)).toBeLessThan(first * 10 + 200)
  })
})

describe('another config', () => {
  test('keeps what is kept, as far as it allows', () => {
    const store = storeOf()
    for (let index = 0; index < 10; index++) keep(store, 'ann', `c${index}`, 'x'.repeat(1000))
    store.reload({ retention: 2 * HOUR, memory: 2 ** 20 })
    now += HOUR + 1
    expect(knows(store, 'ann', 'c0')).toBe(true)
    store.reload({ retention: 2 * HOUR, memory: 8000 })
    expect(store.size).toBeLessThanOrEqual(8000)
    expect(store.size).toBeGreaterThan(0)
    store.reload({ retention: 1, memory: 8000 })
    now += 2
    expect(knows(store, 'ann', 'c0')).toBe(false)
  })
})
