import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Follower } from '../../src/accounts/follower.ts'
import type { AccessRecords } from '../../src/store/access-records.ts'

test('one read at a time follows the store, whenever the next is asked for', async () => {
  let running = 0
  let most = 0
  const asked: Promise<void>[] = []
  /** Asks again in each of the next steps, in which a read ends and the next begins. */
  const askInEachStep = async (): Promise<void> => {
    for (let step = 0; step < 12; step++) {
      await undefined
      asked.push(follower.refresh())
    }
  }
  const changes = async () => {
    most = Math.max(most, ++running)
    await turn()
    running--
    if (asked.length === 2) void askInEachStep()
    return { version: 1, keys: [], groups: [], droppedGroups: [] }
  }
  const follower: Follower = new Follower({
    ...{ records: { changes } as unknown as AccessRecords, mayHaveKeys: () => true, prepare: async () => {} },
    ...{ apply() {}, onFault() {} },
  })
  asked.push(follower.refresh(), follower.refresh())
  while (asked.length < 14) await turn()
  await Promise.all(asked)
  expect(most).toBe(1)
})
