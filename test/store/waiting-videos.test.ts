import { expect, test } from 'vitest'
import { openSqlite } from '../../src/store/store.ts'
import type { StoredTask } from '../../src/store/tasks.ts'

const taskOf = (id: string, channel: string, createdAt: number): StoredTask => ({
  ...{ owner: 'me', id, model: 'm', channel, format: 'videos', upstreamModel: 'm', upstreamId: id, from: 'text' },
  ...{ state: 'completed', output: {}, result: { candidates: [] }, worker: 'w', misses: 0 },
  ...{ createdAt, polledAt: 0, expiresAt: 1e12 },
})

test('the oldest videos of each channel that wait to be stored are found, however many another channel has', async () => {
  const store = await openSqlite(':memory:')
  try {
    for (let at = 1; at <= 5; at++) await store.tasks.begin(taskOf(`down-${at}`, 'down', at))
    for (let at = 6; at <= 9; at++) await store.tasks.begin(taskOf(`up-${at}`, 'up', at))
    await store.tasks.setFileSize('me', 'up-7', 100)
    const found = await store.tasks.withoutVideo(2, 2)
    expect(found.map(({ id }) => id).sort()).toEqual(['down-2', 'down-3', 'up-6', 'up-8'])
  } finally {
    await store.close()
  }
})
