import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, test } from 'vitest'
import { KEY } from '../faults/house.ts'
import { PUBLIC, VideoStage } from './stage.ts'
import { clipBytes } from './upstreams/index.ts'

/* What many callers and large files cost. `VIDEO_TASKS=200 VIDEO_POLLS=50 VIDEO_MB=1024` for the full size. */

const TASKS = Number(process.env['VIDEO_TASKS'] ?? 20)
const POLLS = Number(process.env['VIDEO_POLLS'] ?? 10)
const SIZE = Number(process.env['VIDEO_MB'] ?? 256) * 2 ** 20

/** Bytes between two looks at the memory. */
const SAMPLE = 32 * 2 ** 20

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes of buffers that something still holds, in the gateway, its upstream and its caller together. */
function held(): number {
  collect()
  // What the first has found to be garbage is freed behind it, at the latest before the next.
  collect()
  return process.memoryUsage().arrayBuffers
}

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
  stage = await VideoStage.open('videos', { tasks: { poll: 20 } })
  const { client, upstream } = stage
  upstream.size = SIZE
  const { id } = await client.videos.create({ model: PUBLIC, prompt: 'a' })
  await stage.ended(id)
  const clip = { seed: upstream.last.id, size: SIZE, mediaType: 'video/mp4' }
  const half = SIZE / 2
  const before = held()
  let most = 0
  const read = (range: string, from: number, until: number) =>
    new Promise<number>((resolve, reject) => {
      const headers = { authorization: `Bearer ${KEY}`, range }
      const out = request(
        `${stage!.house.server.address}/v1/videos/${id}/content`,
        { headers, agent: false },
        answer => {
          let at = from
          answer.on('data', (chunk: Buffer) => {
            if (Math.floor(at / SAMPLE) !== Math.floor((at + chunk.length) / SAMPLE))
              most = Math.max(most, held() - before)
            if (!chunk.equals(clipBytes(clip, at, at + chunk.length))) reject(new Error(`other bytes at ${at}`))
            at += chunk.length
            if (at >= until) {
              answer.destroy()
              resolve(at)
            }
          })
          answer.on('end', () => resolve(at))
        },
      )
      out.on('error', reject).end()
    })
  const reached = await read('bytes=0-', 0, half)
  await expect.poll(() => upstream.aborted, { timeout: 5000 }).toBe(1)
  expect(await read(`bytes=${reached}-`, reached, Number.POSITIVE_INFINITY)).toBe(SIZE)
  expect(most).toBeLessThan(16 * 2 ** 20)
}, 600_000)

test('a caller that takes nothing holds up the upstream', async () => {
  stage = await VideoStage.open('videos', { tasks: { poll: 20 } })
  const { client, upstream } = stage
  upstream.size = SIZE
  const { id } = await client.videos.create({ model: PUBLIC, prompt: 'a' })
  await stage.ended(id)
  const headers = { authorization: `Bearer ${KEY}` }
  const out = request(`${stage.house.server.address}/v1/videos/${id}/content`, { headers, agent: false }, answer =>
    answer.pause(),
  )
  out.on('error', () => {}).end()
  await sleep(700)
  expect(upstream.contentBytes).toBeLessThan(SIZE / 2)
  out.destroy()
})
