import { expect, test } from 'vitest'
import { Submission } from '../../../src/gateway/tasks/submission.ts'
import type { StoredTask } from '../../../src/store/tasks.ts'
import { settled } from '../../models/gate.ts'
import { TasksModel, type UpstreamVideo } from '../../models/tasks/model.ts'
import { REQUEST, TARGET, World } from '../../models/tasks/world.ts'

const VIDEO: UpstreamVideo = { id: 'v', status: 'in_progress', progress: 10, isGone: false }

/** A task that two processes poll, the second one five seconds later, before the first one has its answer. */
async function polledTwice(first: UpstreamVideo, later: Pick<UpstreamVideo, 'status' | 'progress'>) {
  const model = new TasksModel()
  const world = await World.open(model)
  const { tasks } = world.store
  model.videos.set('v', first)
  const submission = new Submission({
    ...{ store: tasks, owner: 'me', request: REQUEST, worker: 'one', now: model.now, lifetime: 1e9, base: '' },
  })
  await submission.storeTarget(TARGET, REQUEST)
  await submission.storeAccepted({ id: 'v', candidates: [], task: { state: 'queued' } }, TARGET)
  const current = async (): Promise<StoredTask> => (await tasks.find('me', submission.id))!
  const polls: Promise<StoredTask>[] = []
  for (const { refresher } of world.processes) {
    model.now += 5001
    polls.push(refresher.refresh(await current()))
    await settled()
    Object.assign(first, later)
  }
  return { answers: world.answers, polls, current, close: () => world.close() }
}

test('an answer that comes after that of a later poll takes no progress back', async () => {
  const { answers, polls, current, close } = await polledTwice({ ...VIDEO }, { status: 'in_progress', progress: 60 })
  await answers.release(1)
  await answers.release(0)
  const all = [...(await Promise.all(polls)), await current()]
  expect(all.map(({ result }) => result.task?.progress)).toEqual([60, 60, 60])
  await close()
})

test('an answer that comes late still ends a task', async () => {
  const completed = { status: 'completed', progress: 100 } as const
  const { answers, polls, current, close } = await polledTwice({ ...VIDEO, ...completed }, completed)
  await answers.release(0)
  expect(await current()).toMatchObject({ state: 'completed' })
  await answers.release(0)
  await Promise.all(polls)
  await close()
})
