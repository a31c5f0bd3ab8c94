import fc from 'fast-check'
import { test } from 'vitest'
import { runsOf } from '../runs.ts'
import { commands, Submit } from './commands.ts'
import { TasksModel } from './model.ts'
import { World } from './world.ts'

test('a task goes forward only and ends once, whoever polls it, however late answers are and the store fails', async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 60, size: 'max' }), async list => {
      const model = new TasksModel()
      const real = await World.open(model)
      try {
        for (const owner of ['a', 'b']) await new Submit(0, owner, 'accepted').run(model, real)
        await fc.asyncModelRun(() => ({ model, real }), list)
      } finally {
        await real.close()
      }
    }),
    { numRuns: runsOf(20) },
  )
})
