import { expect, test } from 'vitest'
import { Submission } from '../../../src/gateway/tasks/submission.ts'
import { TasksModel } from '../../models/tasks/model.ts'
import { REQUEST, TARGET, World } from '../../models/tasks/world.ts'

test('a caller is told that its task has failed if another process took the submitting one for dead', async () => {
  const model = new TasksModel()
  const world = await World.open(model)
  const { tasks } = world.store
  const submission = new Submission({
    ...{ store: tasks, owner: 'me', request: REQUEST, worker: 'one', now: model.now, lifetime: 1e9, base: '' },
  })
  await submission.storeTarget(TARGET, REQUEST)
  model.now += 5001
  await world.processes[1]!.refresher.refresh((await tasks.find('me', submission.id))!)
  const told = await submission.storeAccepted({ id: 'v', candidates: [], task: { state: 'queued' } }, TARGET)
  expect(told).toMatchObject({ state: 'failed', result: { task: { failure: { code: 'submit_unanswered' } } } })
  await world.close()
})
