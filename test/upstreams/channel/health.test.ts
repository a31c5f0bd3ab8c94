import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  type ChannelError,
  ChannelStats,
  FAILURES_UNTIL_FAILING,
  failingSince,
  MAX_ERROR_GROUPS,
  MINUTES,
  mergedStats,
  sumOf,
} from '../../../src/upstreams/channel/health.ts'

const MINUTE = 60_000
const START = 1_000_000 * MINUTE

const failure = (at: number, kind: ChannelError['kind'] = 'overloaded', message = 'busy'): ChannelError => ({
  ...{ at, kind, reason: 'status', status: 503, message, model: 'm' },
})

const events = fc.array(
  fc.record({
    minute: fc.integer({ min: 0, max: 200 }),
    failed: fc.boolean(),
    process: fc.integer({ min: 0, max: 2 }),
  }),
  { maxLength: 300 },
)

it('counts exactly the requests of the last minutes, in one process or in several', () => {
  fc.assert(
    fc.property(events, fc.constantFrom(1, 5, MINUTES), (unsorted, count) => {
      const sorted = unsorted.toSorted((one, other) => one.minute - other.minute)
      const now = START + (sorted.at(-1)?.minute ?? 0) * MINUTE + 59_999
      const processes = [new ChannelStats(), new ChannelStats(), new ChannelStats()]
      for (const { minute, failed, process } of sorted)
        if (failed) processes[process]!.failed(failure(START + minute * MINUTE))
        else processes[process]!.succeeded(START + minute * MINUTE)
      const recent = sorted.filter(({ minute }) => START + minute * MINUTE > now - count * MINUTE)
      const merged = mergedStats(processes.map(one => JSON.parse(JSON.stringify(one.snapshot(now)))))
      expect(sumOf(merged, count, now)).toEqual({
        requests: recent.length,
        errors: recent.filter(one => one.failed).length,
      })
    }),
  )
})

it('keeps the last errors only, the latest first, and does not blame the upstream for its requests', () => {
  const stats = new ChannelStats()
  for (let at = 0; at < 50; at++) stats.failed(failure(START + at, 'overloaded', `busy ${at}`))
  const { errors } = stats.snapshot(START)
  expect(errors.map(({ at }) => at - START)).toEqual(Array.from({ length: MAX_ERROR_GROUPS }, (_, index) => 49 - index))
  stats.failed(failure(START, 'invalid-request'))
  expect(sumOf(stats.snapshot(START), 1, START)).toEqual({ requests: 51, errors: 50 })
  expect(stats.snapshot(START).errors[0]!.kind).toBe('invalid-request')
})

it('groups equal errors, with their number and times', () => {
  const stats = new ChannelStats()
  for (const [at, message] of ['busy', 'other', 'busy', 'busy'].entries())
    stats.failed(failure(START + at, 'overloaded', message))
  const { errors } = stats.snapshot(START)
  expect(errors.map(({ message, count, firstAt, at }) => [message, count, firstAt - START, at - START])).toEqual([
    ['busy', 3, 0, 3],
    ['other', 1, 1, 1],
  ])
})

it('a channel is failing if its recent requests all failed, in one process or in several', () => {
  fc.assert(
    fc.property(events, fc.boolean(), (unsorted, isSpread) => {
      // Every event has a time of its own.
      const sorted = unsorted
        .toSorted((one, other) => one.minute - other.minute)
        .map((one, index) => ({ ...one, at: START + one.minute * MINUTE + index }))
      const now = START + (sorted.at(-1)?.minute ?? 0) * MINUTE + 59_999
      const processes = [new ChannelStats(), new ChannelStats(), new ChannelStats()]
      for (const { at, failed, process } of sorted) {
        const stats = processes[isSpread ? process : 0]!
        if (failed) stats.failed(failure(at))
        else stats.succeeded(at)
      }
      const succeededAt = sorted.findLast(one => !one.failed)?.at
      const later = sorted.filter(({ at }) => at > (succeededAt ?? 0))
      const isRecent = succeededAt !== undefined && succeededAt >= now - MINUTES * MINUTE
      const expected = later.length >= (isRecent ? FAILURES_UNTIL_FAILING : 1)
      const merged = mergedStats(processes.map(one => JSON.parse(JSON.stringify(one.snapshot(now)))))
      const since = failingSince(merged, now)
      if (isSpread) {
        // A process sends only its last failures, so that a merged streak may begin later.
        expect(since !== undefined).toBe(expected)
        if (since !== undefined) expect(later.map(({ at }) => at)).toContain(since)
      } else expect(since).toBe(expected ? later[0]!.at : undefined)
    }),
  )
})

it('faults of the requests neither begin nor end the failures of a channel', () => {
  const stats = new ChannelStats()
  stats.failed(failure(START, 'invalid-request'))
  expect(stats.failingSince(START)).toBeUndefined()
  stats.failed(failure(START + 1))
  stats.failed(failure(START + 2, 'not-found'))
  expect(stats.failingSince(START + 3)).toBe(START + 1)
  stats.succeeded(START + 4)
  expect(stats.failingSince(START + 5)).toBeUndefined()
})
