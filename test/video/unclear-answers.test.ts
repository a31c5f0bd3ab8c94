import { afterEach, expect, test } from 'vitest'
import { KEY } from '../builders/config.ts'
import { PUBLIC, type StageOptions, VideoStage } from './stage.ts'
import { type Fault, KINDS, type Kind } from './upstreams/index.ts'

/* Answers about a task that say nothing about it: those of a proxy whose upstream restarts, or of a server without the
   endpoint. */

let stage: VideoStage | undefined
afterEach(async () => {
  await stage?.close()
  stage = undefined
})

const open = async (kind: Kind = 'videos', options: StageOptions = {}): Promise<VideoStage> => {
  stage = await VideoStage.open(kind, { tasks: { poll: 5 }, ...options })
  return stage
}

/** Polling of a test that fails soon. */
const SHORT = { timeout: 2000 }

/** Texts of Traefik, nginx and an empty body, as a proxy sends them while no upstream is registered. */
const PAGES = ['404 page not found', '<html><head><title>404 Not Found</title></head></html>', '']

const refused = (text: string): Fault => ({ refuse: 404, text })

test.each(KINDS.flatMap(kind => PAGES.map(page => [kind, page] as const)))(
  '%s: a 404 that is not the vendor’s (%j) does not lose a video',
  async (kind, page) => {
    const { client, upstream } = await open(kind)
    const { id } = await client.videos.create({ model: PUBLIC, prompt: 'a' })
    upstream.fail('poll', refused(page))
    await expect.poll(() => upstream.count('poll'), SHORT).toBeGreaterThan(8)
    expect((await client.videos.retrieve(id)).status).not.toBe('failed')
    upstream.heal()
    expect((await stage!.ended(id)).status).toBe('completed')
  },
)

test('a 404 of the vendor ends the task', async () => {
  const { client, upstream } = await open()
  const { id } = await client.videos.create({ model: PUBLIC, prompt: 'a' })
  upstream.fail('poll', { refuse: 404, body: { error: { message: 'No such video.', code: 'not_found' } } })
  expect((await stage!.ended(id)).error).toMatchObject({ code: 'task_lost' })
})

test.each([404, 403, 410])('a file that is %d at first is stored later', async status => {
  const { client, upstream } = await open('videos', { tasks: { poll: 5, retention: 3_600_000 } })
  upstream.fail('content', { refuse: status }, 2)
  const { id } = await client.videos.create({ model: PUBLIC, prompt: 'a' })
  await stage!.ended(id)
  await stage!.storedVideo(id)
  upstream.last.expired = true
  expect((await client.videos.downloadContent(id)).status).toBe(200)
})

test.each([405, 501])('a video can be deleted whose upstream deletes none (%d)', async status => {
  const { client, upstream } = await open()
  const { id } = await client.videos.create({ model: PUBLIC, prompt: 'a' })
  await stage!.ended(id)
  upstream.fail('remove', { refuse: status, body: { detail: 'Method Not Allowed' } })
  expect(await client.videos.delete(id)).toMatchObject({ deleted: true })
  await expect(client.videos.retrieve(id)).rejects.toMatchObject({ status: 404 })
})

test('of several videos, Veo is asked for the one that the caller can fetch', async () => {
  const { upstream, testServer } = await open('veo')
  const answer = await fetch(`${testServer.server.address}/v1/video/generations`, {
    ...{ method: 'POST', headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' } },
    body: JSON.stringify({ model: PUBLIC, prompt: 'a', n: 2 }),
  })
  expect(answer.status).toBe(200)
  expect(upstream.last.body).not.toHaveProperty('parameters.sampleCount')
})
