import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ENGINES } from '../../store/usage-stores.ts'
import { runsOf } from '../runs.ts'
import { commands, World } from './commands.ts'
import { UsageModel } from './model.ts'

/** Number of processes that share the store. */
const PROCESSES = 2
/** Runs on each engine: a database server takes longer. */
const RUNS_ON: { readonly [engine: string]: number } = { SQLite: 6, PostgreSQL: 2 }

// Queues write when a command says so, not after a second.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] }))
afterEach(() => void vi.useRealTimers())

test.each(ENGINES)('every row counts once in rows, sums and spend, however batches fail (%s)', async (name, open) => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands(PROCESSES), { maxCommands: 50, size: 'max' }), async list => {
      const model = new UsageModel(PROCESSES)
      const real = await World.open(await open(() => model.now), PROCESSES)
      try {
        await fc.asyncModelRun(() => ({ model, real }), list)
        expect(model.stored.size).toBeGreaterThanOrEqual(model.rows().length)
      } finally {
        await real.close()
      }
    }),
    { numRuns: runsOf(RUNS_ON[name]!) },
  )
})
