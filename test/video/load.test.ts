import { execFile } from 'node:child_process'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterEach, expect, test } from 'vitest'
import { KEY } from '../builders/config.ts'
import { PUBLIC, VideoStage } from './stage.ts'

/* The cost of many callers and large files. `VIDEO_TASKS=200 VIDEO_POLLS=50 VIDEO_MB=1024` runs the full size. */

const TASKS = Number(process.env['VIDEO_TASKS'] ?? 20)
const POLLS = Number(process.env['VIDEO_POLLS'] ?? 10)
const SIZE = Number(process.env['VIDEO_MB'] ?? 256) * 2 ** 20

let stage: VideoStage | undefined
afterEach(async () => {
  await stage?.close()
  stage = undefined
})

test('many callers that poll cost an upstream one status call a task in five seconds', async () => {
  stage = await VideoStage.open('videos')
  const { client, upstream } = stage
  upstream.life = { queued: 1000, running: 0, outcome: 'completed' }
  const ids: string[] = []
  for (let made = 0; made < TASKS; made++) ids.push((await client.videos.create({ model: PUBLIC, prompt: 'a' })).id)
  await sleep(5100)
  const began = Date.now()
  const poll = async (id: string) => void (await client.videos.retrieve(id))
  for (const id of ids) await Promise.all(Array.from({ length: POLLS }, () => poll(id)))
  const windows = Math.ceil((Date.now() - began) / 5000) + 1
  for (const { id } of upstream.tasks.values()) {
    expect(upstream.count('poll', id)).toBeGreaterThan(0)
    expect(upstream.count('poll', id)).toBeLessThanOrEqual(windows)
  }
}, 600_000)

test('a large download flows: memory stays flat, a part resumes it, and a caller that leaves ends it', async () => {
  // Runs in a separate process, because objects left by earlier tests would be collected again for every sample.
  const main = join(import.meta.dirname, 'download.ts')
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', main, `${SIZE}`])
  const { held, size, aborted } = JSON.parse(stdout)
  expect({ size, aborted }).toEqual({ size: SIZE, aborted: 1 })
  expect(held).toBeLessThan(16 * 2 ** 20)
}, 300_000)

test('a caller that takes nothing holds up the upstream', async () => {
  stage = await VideoStage.open('videos', { tasks: { poll: 20 } })
  const { client, upstream } = stage
  upstream.size = SIZE
  const { id } = await client.videos.create({ model: PUBLIC, prompt: 'a' })
  await stage.ended(id)
  const headers = { authorization: `Bearer ${KEY}` }
  const out = request(`${stage.testServer.server.address}/v1/videos/${id}/content`, { headers, agent: false }, answer =>
    answer.pause(),
  )
  out.on('error', () => {}).end()
  await sleep(700)
  expect(upstream.contentBytes).toBeLessThan(SIZE / 2)
  out.destroy()
})
