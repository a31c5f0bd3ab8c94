import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { settled } from '../gate.ts'
import { runsOf } from '../runs.ts'
import { KEY, Ledger, LIMITS, type Request, SLOTS } from './model.ts'
import { Primary } from './primary.ts'

/** Number of workers that share the counts of a primary. */
const WORKERS = 2
/** Interval of the probes during an outage, in milliseconds. */
const PROBE = 500

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** Lets messages arrive and probes happen until no work is left. */
async function drained(scheduler: fc.Scheduler, isDone: () => boolean): Promise<void> {
  for (let turns = 0; !isDone() || scheduler.count() > 0; turns++) {
    expect(turns).toBeLessThan(2000)
    if (scheduler.count() > 0) await scheduler.waitOne()
    else await vi.advanceTimersByTimeAsync(PROBE)
    await settled()
  }
}

const request = fc.record({ reserved: fc.nat(50), cost: fc.nat(50) })
const work = fc.array(fc.tuple(fc.nat(WORKERS - 1), request), { maxLength: 12 })
const failures = fc.array(fc.constantFrom(undefined, undefined, 'before' as const, 'after' as const), { maxLength: 30 })

test('workers count every cost at most once, leave out none but repeated refunds, and keep no slot, in whatever order messages arrive or are lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), work, failures, async (scheduler, list, lost) => {
      const now = Date.now()
      const primary = new Primary(scheduler, lost, () => now)
      const workers = Array.from({ length: WORKERS }, () => primary.worker())
      const ledger = new Ledger(now)
      let running = list.length
      const run = async (worker: number, one: Request) => {
        await scheduler.schedule(Promise.resolve(), 'request')
        await ledger.run(workers[worker]!, `w${worker}`, one)
        running--
      }
      const all = list.map(([worker, one]) => run(worker, one))
      await drained(scheduler, () => running === 0 && workers.every(({ isShared }) => isShared))
      await Promise.all(all)
      // The counts should have too little rather than too much: the stored rows raise them later.
      const spent = primary.counts.spent(KEY, LIMITS, now)?.day ?? 0
      expect(spent).toBeLessThanOrEqual(ledger.spent)
      expect(spent).toBeGreaterThanOrEqual(ledger.spent - primary.repeatable)
      primary.failures.length = 0
      const slots = Array.from({ length: SLOTS + 1 }, () => ledger.enter(workers[0]!, 'last'))
      let entered: readonly (string | undefined)[] | undefined
      void Promise.all(slots).then(names => {
        entered = names
      })
      await drained(scheduler, () => entered !== undefined)
      expect(entered!.filter(name => name !== undefined)).toHaveLength(SLOTS)
      for (const worker of workers) worker.close()
    }),
    { numRuns: runsOf(40) },
  )
})
