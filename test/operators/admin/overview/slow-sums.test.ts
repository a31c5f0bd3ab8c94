import { expect, it } from 'vitest'
import { slowSums } from '../../../../src/operators/admin/overview/slow-sums.ts'
import type { UsageRecords } from '../../../../src/store/usage-records.ts'

const NOON = Date.UTC(2026, 10, 28, 12)
const SECOND = 1000

/** A store whose sums count up with each computation, and wait until they are let go. */
function waiting() {
  let round = 0
  let calls = 0
  let isFailing = false
  let release: () => void = () => {}
  let gate = Promise.resolve()
  const usage = {
    sums: async () => {
      if (calls++ % 5 === 0) round++
      const mine = round
      await gate
      if (isFailing) throw new Error('the store is closed')
      return [{ requests: mine }]
    },
  } as unknown as UsageRecords
  return {
    usage,
    hold: () => {
      gate = new Promise(resolve => (release = resolve))
    },
    release: () => release(),
    fail: (failing: boolean) => {
      isFailing = failing
    },
  }
}

const roundOf = async (usage: UsageRecords, at: number): Promise<number> =>
  (await slowSums(usage, at)).month[0]!.requests

it('sums are reused for 30 seconds; then the old ones are shown while new ones are computed', async () => {
  const { usage, hold, release } = waiting()
  expect(await roundOf(usage, NOON)).toBe(1)
  expect(await roundOf(usage, NOON + 29 * SECOND)).toBe(1)
  hold()
  // Nobody waits for the store.
  expect(await roundOf(usage, NOON + 31 * SECOND)).toBe(1)
  release()
  expect(await roundOf(usage, NOON + 36 * SECOND)).toBe(2)
})

it('sums that are too old, or of another day, are not shown', async () => {
  const { usage } = waiting()
  const late = Date.UTC(2026, 10, 28, 23, 59, 50)
  expect(await roundOf(usage, late - 3_600_000)).toBe(1)
  expect(await roundOf(usage, late)).toBe(2)
  expect(await roundOf(usage, late + 40 * SECOND)).toBe(3)
})

it('sums are computed again after the clock was set back', async () => {
  const { usage } = waiting()
  expect(await roundOf(usage, NOON)).toBe(1)
  expect(await roundOf(usage, NOON - 3_600_000)).toBe(2)
  expect(await roundOf(usage, NOON - 3_600_000 + SECOND)).toBe(2)
})

it('a failure is reported and not reused', async () => {
  const { usage, fail } = waiting()
  fail(true)
  await expect(slowSums(usage, NOON)).rejects.toThrow('the store is closed')
  fail(false)
  expect(await roundOf(usage, NOON + SECOND)).toBeGreaterThan(0)
})
