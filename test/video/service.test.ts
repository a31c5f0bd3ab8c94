import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { KEY, keyOf } from '../builders/config.ts'
import { ON_FILES } from '../builders/engines.ts'
import { TestServer } from '../builders/gateway.ts'
import { clientAt, PUBLIC, type StageOptions, TASKS, VideoStage } from './stage.ts'
import { type Kind, PIXEL } from './upstreams/index.ts'

/* The guarantees that the service gives for video tasks. */

let stage: VideoStage | undefined
afterEach(async () => {
  await stage?.close()
  stage = undefined
})

const open = async (kind: Kind = 'videos', options: StageOptions = {}) =>
  (stage = await VideoStage.open(kind, { tasks: { poll: 20 }, ...options }))

const ask = (path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST', headers = {}) =>
  stage!.testServer.ask(path, body, { method, headers })

async function finished(prompt = 'a'): Promise<string> {
  const { id } = await stage!.client.videos.create({ model: PUBLIC, prompt })
  await stage!.ended(id)
  return id
}

test('POST /v1/videos: the task identifier is `task_id`', async () => {
  await open()
  const { status, json } = await ask('/v1/videos', { model: PUBLIC, prompt: 'a' })
  expect(status).toBe(200)
  expect(json).toMatchObject({ task_id: expect.stringMatching(/^video_/), status: 'queued' })
})

test('GET /v1/videos/{task_id}: queued, in_progress, completed, with the result in `url`', async () => {
  const { upstream } = await open()
  upstream.life = { queued: Number.POSITIVE_INFINITY, running: Number.POSITIVE_INFINITY, outcome: 'completed' }
  const { json } = await ask('/v1/videos', { model: PUBLIC, prompt: 'a' })
  const shown = async () => (await ask(`/v1/videos/${json.task_id}`)).json
  const state = async () => (await shown()).status
  expect(await state()).toBe('queued')
  upstream.last.queued = 0
  await expect.poll(state).not.toBe('queued')
  expect(await state()).toBe('in_progress')
  upstream.finish(upstream.last)
  await expect.poll(state).not.toBe('in_progress')
  expect(await shown()).toMatchObject({
    status: 'completed',
    url: `${stage!.testServer.server.address}/v1/videos/${json.task_id}/content`,
  })
})

test('States: failed returns the reason, and content review has its own', async () => {
  await open()
  stage!.upstream.life = { queued: 0, running: 0, outcome: 'review' }
  const { json } = await ask('/v1/videos', { model: PUBLIC, prompt: 'a' })
  const failed = await stage!.ended(json.task_id)
  expect(failed).toMatchObject({ status: 'failed', error: { code: expect.stringMatching(/moderation|policy/) } })
})

test('POST /v1/videos/{video_id}/remix: a task of its own from a completed one, under the model that made it', async () => {
  const { client, upstream } = await open()
  const id = await finished()
  const remix = await client.videos.remix(id, { prompt: 'at night' })
  expect(remix).toMatchObject({ remixed_from_video_id: id, model: PUBLIC, prompt: 'at night' })
  expect(remix.id).not.toBe(id)
  expect(upstream.count('remix')).toBe(1)
  await stage!.ended(remix.id)
  await expect(client.videos.remix(remix.id, { prompt: 'b' })).rejects.toMatchObject({
    status: 400,
    code: 'remix_not_supported',
  })
})

test('remix: 409 for one that is not finished, 404 for an unknown one, 400 where the upstream changes no videos', async () => {
  const { client } = await open()
  const { id } = await client.videos.create({ model: PUBLIC, prompt: 'a' })
  await expect(client.videos.remix(id, { prompt: 'b' })).rejects.toMatchObject({ status: 409 })
  await expect(client.videos.remix('video_x', { prompt: 'b' })).rejects.toMatchObject({ status: 404 })
  await stage!.close()
  const { client: other } = await open('kling')
  await expect(other.videos.remix(await finished(), { prompt: 'b' })).rejects.toMatchObject({
    status: 400,
    code: 'remix_not_supported',
  })
})

test('POST and GET /v1/video/generations: `duration` in seconds', async () => {
  await open()
  const { status, json } = await ask('/v1/video/generations', { model: PUBLIC, prompt: 'a', duration: 8 })
  expect(status).toBe(200)
  expect(json).toMatchObject({ task_id: expect.any(String), status: 'queued', duration: 8 })
  expect(stage!.upstream.seen[0]!.body).toMatchObject({ seconds: '8' })
  await stage!.ended(json.task_id)
  const { json: done } = await ask(`/v1/video/generations/${json.task_id}`)
  expect(done).toMatchObject({ status: 'completed', progress: 100, error: null, format: 'mp4' })
})

test('POST /v1/video/generations: an image as bare base64, and `width` and `height` as the size', async () => {
  const { upstream } = await open('kling')
  const image = PIXEL.toString('base64')
  expect((await ask('/v1/video/generations', { model: PUBLIC, prompt: 'a', image })).status).toBe(200)
  expect(upstream.last.body).toMatchObject({ kind: 'image2video', image })
  await stage!.close()
  const { upstream: other } = await open()
  const made = await ask('/v1/video/generations', { model: PUBLIC, prompt: 'a', width: 1280, height: 720 })
  expect(made.json).toMatchObject({ size: '1280x720' })
  expect(other.last.body).toMatchObject({ size: '1280x720' })
})

test.each(['text2video', 'image2video'])('POST and GET /videovendor/v1/videos/%s', async work => {
  await open('kling')
  const image = `data:image/png;base64,${PIXEL.toString('base64')}`
  const body = { model: PUBLIC, prompt: 'a', ...(work === 'image2video' ? { image } : {}) }
  const { status, json } = await ask(`/videovendor/v1/videos/${work}`, body)
  expect(status).toBe(200)
  expect(json).toMatchObject({ code: 0, data: { task_id: expect.stringMatching(/^video_/), task_status: 'submitted' } })
  await stage!.ended(json.data.task_id)
  const { json: done } = await ask(`/videovendor/v1/videos/${work}/${json.data.task_id}`)
  const url = `${stage!.testServer.server.address}/v1/videos/${json.data.task_id}/content`
  expect(done.data).toMatchObject({ task_status: 'succeed', task_result: { videos: [{ url }] } })
})

test('the first segment of the vendor’s paths is configured', async () => {
  await open('videos', { tasks: { vendorPath: 'klingai' } })
  expect((await ask('/klingai/v1/videos/text2video', { model: PUBLIC, prompt: 'a' })).status).toBe(200)
  expect((await ask('/videovendor/v1/videos/text2video', { model: PUBLIC, prompt: 'a' })).status).toBe(404)
})

test('a task made at one endpoint is shown at the others', async () => {
  await open('veo')
  const { json } = await ask('/v1/video/generations', { model: PUBLIC, prompt: 'a' })
  const paths = ['/v1/videos/', '/v1/video/generations/', '/videovendor/v1/videos/text2video/']
  for (const path of paths) expect((await ask(path + json.task_id)).status).toBe(200)
})

test('another key’s task is 404 everywhere, and in no list', async () => {
  const other = 'sk-other-0123456789'
  const { testServer } = await open('videos', { config: { keys: [keyOf(KEY, 'dev'), keyOf(other, 'other')] } })
  const id = await finished()
  const stranger = clientAt(testServer, other)
  await expect(stranger.videos.retrieve(id)).rejects.toMatchObject({ status: 404 })
  await expect(stranger.videos.downloadContent(id)).rejects.toMatchObject({ status: 404 })
  await expect(stranger.videos.delete(id)).rejects.toMatchObject({ status: 404 })
  await expect(stranger.videos.remix(id, { prompt: 'b' })).rejects.toMatchObject({ status: 404 })
  expect((await stranger.videos.list()).data).toEqual([])
})

test('GET /v1/videos: limit, after, order', async () => {
  const { client } = await open()
  const ids: string[] = []
  for (const prompt of ['a', 'b', 'c']) ids.push((await client.videos.create({ model: PUBLIC, prompt })).id)
  const page = await client.videos.list({ limit: 2, order: 'asc' })
  expect(page.data.map(({ id }) => id)).toHaveLength(2)
  const all: string[] = []
  for await (const { id } of client.videos.list({ limit: 1, order: 'asc' })) all.push(id)
  expect(new Set(all)).toEqual(new Set(ids))
  for (const query of ['limit=0', 'limit=x', 'order=up', 'after=video_none'])
    expect((await ask(`/v1/videos?${query}`)).status).toBe(400)
})

describe('content', () => {
  test('409 with the state until it is finished, HEAD without the bytes, 410 once the upstream lost it', async () => {
    const { client, upstream } = await open()
    const { id } = await client.videos.create({ model: PUBLIC, prompt: 'a' })
    const early = await ask(`/v1/videos/${id}/content`)
    expect(early.status).toBe(409)
    expect(early.json.error).toMatchObject({ code: 'video_not_ready', message: expect.stringContaining('queued') })
    await stage!.ended(id)
    const head = await ask(`/v1/videos/${id}/content`, undefined, 'HEAD')
    expect(head).toMatchObject({ status: 200, text: '', headers: { 'content-length': String(upstream.size) } })
    const none = await ask(`/v1/videos/${id}/content`, undefined, 'GET', { range: 'bytes=99999999-' })
    expect(none).toMatchObject({ status: 416, headers: { 'content-range': `bytes */${upstream.size}` } })
    expect((await ask(`/v1/videos/${id}/content?variant=thumbnail`)).headers['content-type']).toBe('image/webp')
    expect((await ask(`/v1/videos/${id}/content?variant=film`)).status).toBe(400)
    upstream.last.expired = true
    expect((await ask(`/v1/videos/${id}/content`)).status).toBe(410)
  })

  test('a redirect to storage is followed without the credential', async () => {
    await open('videos', { scene: { stored: true } })
    const id = await finished()
    expect((await ask(`/v1/videos/${id}/content`)).status).toBe(200)
    for (const { headers } of stage!.scene.storage.seen) expect(headers.authorization).toBeUndefined()
    expect(stage!.scene.storage.seen.length).toBeGreaterThan(0)
  })

  test('an address that is not public is not fetched from', async () => {
    await open('kling', { allow: [] })
    const id = await finished()
    expect((await ask(`/v1/videos/${id}/content`)).status).toBe(502)
    expect(stage!.scene.storage.seen).toEqual([])
  })

  test('a stored video outlives its upstream', async () => {
    const { upstream, client } = await open('videos', { tasks: { poll: 20, retention: 3_600_000 } })
    const id = await finished()
    await stage!.storedVideo(id)
    upstream.last.expired = true
    const whole = Buffer.from(await (await client.videos.downloadContent(id)).arrayBuffer())
    expect(whole).toHaveLength(upstream.size)
    const kept = await client.videos.downloadContent(id, {}, { headers: { range: 'bytes=-100' } })
    expect(kept.status).toBe(206)
    expect(Buffer.from(await kept.arrayBuffer()).equals(whole.subarray(-100))).toBe(true)
  })
})

test('a repeated idempotency key is answered with the first task, also concurrently', async () => {
  const { client, upstream } = await open()
  upstream.delay = 50
  const one = () => client.videos.create({ model: PUBLIC, prompt: 'a' }, { headers: { 'idempotency-key': 'order-1' } })
  const made = await Promise.all([one(), one(), one()])
  expect(new Set([...made, await one()].map(({ id }) => id)).size).toBe(1)
  expect(upstream.count('submit')).toBe(1)
})

test('a refused submission creates no task, and the upstream’s reason is passed on', async () => {
  const { client, upstream } = await open()
  upstream.fail(
    'submit',
    { refuse: 400, body: { error: { message: 'No such size.', type: 'x', code: 'bad_size' } } },
    1,
  )
  await expect(client.videos.create({ model: PUBLIC, prompt: 'a' })).rejects.toMatchObject({ status: 400 })
  expect((await client.videos.list()).data).toEqual([])
})

test.each(['break', 'break-after', 'break-half', 'garbage', 'hang-after'] as const)(
  'a submit that is not answered (%s) is not sent again, and its task failed',
  async fault => {
    const timeout = { connect: 10_000, firstByte: 1000, idle: 1000 }
    const { client, upstream } = await open('videos', { scene: { fields: { timeout } } })
    upstream.fail('submit', fault)
    await expect(client.videos.create({ model: PUBLIC, prompt: 'a' })).rejects.toMatchObject({
      status: expect.any(Number),
    })
    const [task] = (await client.videos.list()).data
    expect(task).toMatchObject({ status: 'failed', error: { code: 'submit_unanswered' } })
    expect(upstream.count('submit')).toBe(1)
  },
)

test('a submission without an answer is found by its reference', async () => {
  const { client, upstream } = await open('kling')
  upstream.fail('submit', 'break-after', 1)
  const made = await client.videos.create({ model: PUBLIC, prompt: 'a' })
  expect((await stage!.ended(made.id)).status).toBe('completed')
  expect(upstream.count('submit')).toBe(1)
})

test('a submission without an answer is found, also while the background looks for it', async () => {
  const { client, upstream } = await open('kling', { tasks: { poll: 1 } })
  const orders = Array.from({ length: 40 }, (_, index) => index)
  upstream.fail('submit', 'break-after', orders.length)
  const made: string[] = []
  for (const index of orders) made.push((await client.videos.create({ model: PUBLIC, prompt: `${index}` })).id)
  expect(new Set(made).size).toBe(orders.length)
  expect(upstream.count('submit')).toBe(orders.length)
})

test('bad input is refused before anything is stored or sent', async () => {
  const { upstream } = await open()
  const form = (mediaType: string, text: string) => {
    const body = new FormData()
    body.set('model', PUBLIC)
    body.set('prompt', 'a')
    body.set('input_reference', new Blob([text], { type: mediaType }), 'a.png')
    return body
  }
  const bodies: unknown[] = [
    {},
    { model: PUBLIC },
    { model: PUBLIC, prompt: '' },
    { model: PUBLIC, prompt: 7 },
    { model: 7, prompt: 'a' },
    { model: PUBLIC, prompt: 'a', seconds: [] },
    { model: PUBLIC, prompt: 'a', size: 720 },
    { model: PUBLIC, prompt: 'a', input_reference: 7 },
    { model: PUBLIC, prompt: 'a', input_reference: 'no picture' },
    { model: PUBLIC, prompt: 'a', input_reference: 'data:text/plain;base64,aGVsbG8=' },
  ]
  for (const body of bodies) expect((await ask('/v1/videos', body)).status, JSON.stringify(body)).toBe(400)
  for (const body of [form('image/png', 'no picture'), form('text/plain', 'no picture')]) {
    const headers = { authorization: `Bearer ${KEY}` }
    const answer = await fetch(`${stage!.testServer.server.address}/v1/videos`, { method: 'POST', headers, body })
    expect(answer.status).toBe(400)
  }
  const headers = { authorization: `Bearer ${KEY}` }
  const large = form('image/png', 'x'.repeat(2 ** 20 + 1))
  expect(
    (await fetch(`${stage!.testServer.server.address}/v1/videos`, { method: 'POST', headers, body: large })).status,
  ).toBe(413)
  expect((await ask('/v1/videos', { model: 'none', prompt: 'a' })).status).toBe(404)
  for (const id of ['video_x', '..%2f..%2fetc', 'a%2Fb', '%00', 'x'.repeat(2000)])
    expect((await ask(`/v1/videos/${id}`)).status).toBe(404)
  expect((await ask('/v1/videos/a/b/c')).status).toBe(404)
  expect((await ask('/v1/videos', undefined, 'PUT')).status).toBe(405)
  expect(upstream.seen).toEqual([])
})

test.runIf(ON_FILES)('a submission is refused before it is sent if the store cannot be written', async () => {
  const { client, upstream, folder } = await open('videos', { tasks: { poll: 0 } })
  mkdirSync(join(folder, 'interlingua.sqlite'))
  await expect(client.videos.create({ model: PUBLIC, prompt: 'a' })).rejects.toMatchObject({ status: 503 })
  expect(upstream.seen).toEqual([])
})

test('two channels: a refused submission goes to the next, and polls go to the one that accepted it', async () => {
  const { testServer, scene } = await open()
  await testServer.server.close(0)
  const second = await VideoStage.open('videos', { tasks: { poll: 20 } })
  const first = { ...scene.channel, name: 'first', priority: 0 }
  const next = { ...second.scene.channel, name: 'second', priority: 1 }
  const both = await TestServer.open([first, next], {
    allow: [],
    keep: second.folder,
    config: { tasks: { ...TASKS, poll: 20 } },
  })
  scene.upstream.fail('submit', { refuse: 503 })
  const client = clientAt(both)
  const { id } = await client.videos.create({ model: PUBLIC, prompt: 'a' })
  second.upstream.fail('poll', { refuse: 500 }, 2)
  await expect.poll(async () => (await client.videos.retrieve(id)).status).toBe('completed')
  expect([scene.upstream.count('submit'), scene.upstream.count('poll')]).toEqual([1, 0])
  expect(second.upstream.count('submit')).toBe(1)
  await both.server.close(0)
  await second.close()
})
