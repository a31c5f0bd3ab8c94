import { expect, test } from 'vitest'
import { Limits } from '../../../src/accounts/limits/index.ts'

/* Slots for work other than requests: background responses and voice sessions. */

/** The limits of two workers and of their primary, which counts for them. */
function workers() {
  const primary = new Limits({ owner: 'primary' })
  const worker = (owner: string) => new Limits({ owner, ask: steps => primary.take(steps) })
  return { primary, one: worker('one'), two: worker('two') }
}

test('as many places are taken in all processes as there are, and each comes back once', async () => {
  const { one, two } = workers()
  const taken = await Promise.all(
    Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? one : two).takeSlot('background', 'k', 4)),
  )
  const leaves = taken.filter(leave => leave !== undefined)
  expect(leaves).toHaveLength(4)
  leaves[0]!()
  leaves[0]!()
  expect(await one.takeSlot('background', 'k', 4)).toBeDefined()
  expect(await two.takeSlot('background', 'k', 4)).toBeUndefined()
})

test('places of one kind take none of another kind, of another key, or of requests', async () => {
  const { one, two } = workers()
  expect(await one.takeSlot('background', 'k', 1)).toBeDefined()
  expect(await two.takeSlot('sessions', 'k', 1)).toBeDefined()
  expect(await two.takeSlot('background', 'l', 1)).toBeDefined()
  await two.of('k', { concurrent: 1 }).enter()
  expect(await two.takeSlot('background', 'k', 1)).toBeUndefined()
})

test('places of a process that ended come back', async () => {
  const { primary, one, two } = workers()
  expect(await one.takeSlot('sessions', 'k', 1)).toBeDefined()
  expect(await two.takeSlot('sessions', 'k', 1)).toBeUndefined()
  primary.leaveAll('one')
  expect(await two.takeSlot('sessions', 'k', 1)).toBeDefined()
})
