import fc from 'fast-check'
import { expect, test } from 'vitest'
import { until } from '../../builders/time.ts'
import { runsOf } from '../runs.ts'
import { Create, commands, look } from './commands.ts'
import { StoredModel } from './model.ts'
import { CONVERSATION, OWNERS, World } from './world.ts'

/** The responses of the beginning, one at each process. */
const REQUEST = { owner: 'a', previous: undefined, isInConversation: true } as const

/** Ends all work, and lets the store work again. */
async function rest(model: StoredModel, world: World): Promise<void> {
  for (const { failures } of world.processes) failures.clear()
  for (const [{ process }, { answered }] of world.work) if (!model.dead.has(process)) answered()
  await until(() => model.responses.every(({ isOver }) => isOver))
  const ids = model.responses.flatMap(({ id, isStored, process }) => (isStored && !model.dead.has(process) ? [id] : []))
  // An end that could not be stored is stored within a second.
  await expect.poll(() => world.store.turns.unfinished(ids)).toEqual(new Set())
}

/** What every response is once all work has ended. */
async function checkEnds(model: StoredModel, world: World): Promise<void> {
  for (const response of model.responses) {
    for (const owner of OWNERS) await look(world, 0, owner, response)
    const { isStored, deletion, end, id } = response
    if (isStored && deletion === undefined) expect(end, `${id} has an end`).toBeDefined()
    const history = model.history(response)
    if (history === undefined || end?.status !== 'completed') continue
    const chain = await world.store.turns.chain(response.owner, id)
    expect(chain?.links.flatMap(({ items }) => items.map(item => item['id']))).toEqual(history)
  }
}

/** A conversation has the items of every completed response, in order, once. */
async function checkConversations(model: StoredModel, world: World): Promise<void> {
  for (const owner of OWNERS) {
    const items = (await world.store.conversations.items(owner, CONVERSATION))!.map(({ id }) => id)
    expect(new Set(items).size, 'items are there once').toBe(items.length)
    for (const { owner: its, isInConversation, isStored, end, input, output } of model.responses) {
      if (its !== owner || !isInConversation || !isStored || end?.status !== 'completed') continue
      const at = items.indexOf(input)
      expect(items.slice(at, at + 1 + output.length)).toEqual([input, ...output])
    }
  }
}

test('responses are stored, continued, cancelled, deleted and forgotten as in the model, however the store fails', async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 30, size: 'max' }), async list => {
      const model = new StoredModel()
      const real = await World.open()
      try {
        for (const process of [0, 1]) await new Create({ ...REQUEST, process }, true).run(model, real)
        await fc.asyncModelRun(() => ({ model, real }), list)
        await rest(model, real)
        await checkEnds(model, real)
        await checkConversations(model, real)
        await real.expire()
        for (const { owner, id, input, output } of model.responses) {
          expect(await real.store.turns.find(owner, id)).toBeUndefined()
          expect(await real.store.turns.items(owner, [input, ...output])).toEqual(new Map())
        }
      } finally {
        await real.close()
      }
    }),
    { numRuns: runsOf(20) },
  )
})
