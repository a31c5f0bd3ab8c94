import { expect, it } from 'vitest'
import { isFull, isOngoing, MAX_REST, possibleEnd, rests } from '../../src/upstreams/channel-health.ts'
import { channelAt } from '../builders/config.ts'

const NOW = 1e12
/** A rest as long as no rest can be. */
const IMPOSSIBLE = MAX_REST + 60_000

it('a rest is ongoing until its end, unless the clock was set back since it began', () => {
  expect(MAX_REST).toBe(3_600_000)
  expect([1, MAX_REST, IMPOSSIBLE - 1].map(length => isOngoing(NOW + length, NOW))).toEqual([true, true, true])
  expect([0, -1, IMPOSSIBLE].map(length => isOngoing(NOW + length, NOW))).toEqual([false, false, false])
})

it('an earlier rest counts unless it ends impossibly later than a new one', () => {
  expect(possibleEnd(NOW + IMPOSSIBLE - 1, NOW)).toBe(NOW + IMPOSSIBLE - 1)
  expect(possibleEnd(NOW + IMPOSSIBLE, NOW)).toBe(0)
  expect(possibleEnd(NOW - 5, NOW)).toBe(NOW - 5)
})

it('a channel rests as a whole, or one of its models does', () => {
  expect(rests({ inFlight: 0 }, 'm', NOW)).toBe(false)
  expect(rests({ inFlight: 0, restingUntil: NOW + 1 }, 'm', NOW)).toBe(true)
  const resting = new Map([['m', NOW + 1]])
  expect([rests({ inFlight: 0, resting }, 'm', NOW), rests({ inFlight: 0, resting }, 'n', NOW)]).toEqual([true, false])
})

it('a channel is full at its limit of requests, or if its key is spent', () => {
  const limited = channelAt('http://127.0.0.1:9', { maxConcurrent: 2 })
  const { maxConcurrent: _, ...unlimited } = limited
  expect([1, 2, 3].map(inFlight => isFull({ inFlight }, limited))).toEqual([false, true, true])
  expect(isFull({ inFlight: 1e9 }, unlimited)).toBe(false)
  expect(isFull({ inFlight: 0, isSpent: true }, unlimited)).toBe(true)
  expect(isFull({ inFlight: 0, isSpent: false }, unlimited)).toBe(false)
})
