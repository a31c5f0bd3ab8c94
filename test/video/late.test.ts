import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { inDatabase, ON_FILES, openStoreAt } from '../builders/engines.ts'
import { PUBLIC, VideoStage } from './stage.ts'

/* Behavior that depends on the clock. */

const folders: string[] = []
let stage: VideoStage | undefined
afterEach(async () => {
  vi.useRealTimers()
  await stage?.close()
  stage = undefined
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const HOUR = 3_600_000

/** Returns the folder of a store that has confirmed the clock of its machine up to a time. */
async function folderOfConfirmedTime(time: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'late-'))
  folders.push(folder)
  await (await openStoreAt(folder)).close()
  await inDatabase(folder, `insert into usage_sweeps (name, until) values ('deleted', ${time})`)
  return folder
}

test('a task that its upstream has not finished within a day has failed, and is asked for no more', async () => {
  const now = Date.now() - 26 * HOUR
  vi.useFakeTimers({ toFake: ['Date'], now })
  stage = await VideoStage.open('videos', { tasks: { poll: 0 }, keep: await folderOfConfirmedTime(now + 48 * HOUR) })
  const { client, upstream } = stage
  upstream.life = { queued: 0, running: 1000, outcome: 'completed' }
  const { id } = await client.videos.create({ model: PUBLIC, prompt: 'a' })
  vi.setSystemTime(now + 23 * HOUR)
  expect((await client.videos.retrieve(id)).status).toBe('in_progress')
  vi.setSystemTime(now + 25 * HOUR)
  expect(await client.videos.retrieve(id)).toMatchObject({ status: 'failed', error: { code: 'task_timed_out' } })
  vi.setSystemTime(now + 26 * HOUR)
  const polls = upstream.count('poll')
  await client.videos.retrieve(id)
  expect(upstream.count('poll')).toBe(polls)
})

test('a clock that is days ahead for a moment fails no video and deletes none', async () => {
  const now = Date.now()
  vi.useFakeTimers({ toFake: ['Date'], now })
  stage = await VideoStage.open('videos', { tasks: { poll: 0 } })
  const { client, upstream } = stage
  upstream.life = { queued: 0, running: 1, outcome: 'completed' }
  const { id } = await client.videos.create({ model: PUBLIC, prompt: 'a' })
  vi.setSystemTime(now + 400 * 24 * HOUR)
  expect((await client.videos.retrieve(id)).status).not.toBe('failed')
  const later = await client.videos.create({ model: PUBLIC, prompt: 'b' })
  vi.setSystemTime(now)
  expect((await client.videos.retrieve(later.id)).status).not.toBe('failed')
  // Only a database server knows the right time meanwhile.
  if (!ON_FILES) expect(Math.abs(later.created_at * 1000 - now)).toBeLessThan(HOUR)
})

test('Kling: tokens are made anew before they end, also where the clock goes back', async () => {
  const now = Date.now()
  vi.useFakeTimers({ toFake: ['Date'], now })
  stage = await VideoStage.open('kling', { tasks: { poll: 0 } })
  const { client, upstream } = stage
  for (const hours of [0, 0.4, 0.49, 0.6, 5, 4, -1]) {
    vi.setSystemTime(now + hours * HOUR)
    expect((await client.videos.create({ model: PUBLIC, prompt: 'a' })).status).toBe('queued')
  }
  expect(upstream.count('submit')).toBe(7)
})
