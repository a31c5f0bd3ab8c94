import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Watchdog, type Watched } from '../../../src/upstreams/channel/watchdog.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.clearAllTimers()
  vi.useRealTimers()
})

function silent(
  watchdog: Watchdog,
  silenceLimit: number | undefined,
): Watched & { lastActivity: number; expired: number; late: number } {
  const [expire, overdue] = [() => void one.expired++, () => void one.late++]
  const one = { silenceLimit, lastActivity: 0, place: 0, expired: 0, late: 0, expire, overdue }
  watchdog.watch(one)
  return one
}

test('expires what is silent for too long, each by its own limit', () => {
  const watchdog = new Watchdog(100)
  const [hasty, calm, patient] = [silent(watchdog, 100), silent(watchdog, 1000), silent(watchdog, undefined)]
  vi.advanceTimersByTime(200)
  expect([hasty.expired > 0, calm.expired, patient.expired]).toEqual([true, 0, 0])
  vi.advanceTimersByTime(1000)
  expect([calm.expired > 0, patient.expired]).toEqual([true, 0])
})

test('names what is silent for a minute, if its silence is limited', () => {
  const watchdog = new Watchdog(600_000)
  const [patient, unlimited] = [silent(watchdog, 600_000), silent(watchdog, undefined)]
  vi.advanceTimersByTime(60_000)
  expect(patient.late).toBe(0)
  vi.advanceTimersByTime(2000)
  expect([patient.late > 0, patient.expired, unlimited.late]).toEqual([true, 0, 0])
})

test('expires neither what is active nor what is no longer watched', () => {
  const watchdog = new Watchdog(100)
  const [lively, gone] = [silent(watchdog, 100), silent(watchdog, 100)]
  watchdog.unwatch(gone)
  for (let turn = 0; turn < 20; turn++) {
    vi.advanceTimersByTime(50)
    lively.lastActivity = watchdog.now
  }
  expect([lively.expired, gone.expired]).toEqual([0, 0])
})

test('sleeps where there is nothing to watch, and wakes for the next', () => {
  const others = vi.getTimerCount()
  const watchdog = new Watchdog(100)
  const one = silent(watchdog, 100)
  watchdog.unwatch(one)
  vi.advanceTimersByTime(100)
  expect(vi.getTimerCount()).toBe(others)
  vi.advanceTimersByTime(60_000)
  const next = silent(watchdog, 100)
  vi.advanceTimersByTime(50)
  expect(next.expired).toBe(0)
  vi.advanceTimersByTime(200)
  expect(next.expired).toBeGreaterThan(0)
})

test('reads what arrived while the process was busy before anything expires', () => {
  const watchdog = new Watchdog(100)
  const one = silent(watchdog, 100)
  vi.advanceTimersByTime(50)
  const now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now + 5000)
  vi.advanceTimersToNextTimer()
  expect(one.expired).toBe(0)
  clock.mockReturnValue(now + 5025)
  vi.advanceTimersToNextTimer()
  expect(one.expired).toBe(1)
  clock.mockRestore()
})
