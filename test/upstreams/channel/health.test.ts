import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  type ChannelError,
  ChannelStats,
  LAST_ERRORS,
  MINUTES,
  mergedStats,
  sumOf,
} from '../../../src/upstreams/channel/health.ts'

const MINUTE = 60_000
const START = 1_000_000 * MINUTE

const failure = (at: number, kind: ChannelError['kind'] = 'overloaded'): ChannelError => ({
  ...{ at, kind, status: 503, message: 'busy', model: 'm' },
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
  for (let at = 0; at < 50; at++) stats.failed(failure(START + at))
  const { errors } = stats.snapshot(START)
  expect(errors.map(({ at }) => at - START)).toEqual(Array.from({ length: LAST_ERRORS }, (_, index) => 49 - index))
  stats.failed(failure(START, 'invalid-request'))
  expect(sumOf(stats.snapshot(START), 1, START)).toEqual({ requests: 51, errors: 50 })
  expect(stats.snapshot(START).errors[0]!.kind).toBe('invalid-request')
})
