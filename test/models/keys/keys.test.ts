import fc from 'fast-check'
import { test } from 'vitest'
import { runsOf } from '../runs.ts'
import { commands, World } from './commands.ts'
import { KeysModel } from './model.ts'

/** Number of processes that share the store. */
const PROCESSES = 2

test('every process decides by a state of the keys that gets newer only, and is current once it has read', async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands(PROCESSES), { maxCommands: 40, size: 'max' }), async list => {
      const model = new KeysModel(PROCESSES)
      const real = await World.open(model)
      try {
        await fc.asyncModelRun(() => ({ model, real }), list)
      } finally {
        await real.close()
      }
    }),
    { numRuns: runsOf(20) },
  )
})
