import { toFile } from 'openai'
import { afterEach, describe, expect, test } from 'vitest'
import { PUBLIC, type StageOptions, VideoStage } from './stage.ts'
import { clipBytes, KINDS, type Kind, PIXEL } from './upstreams/index.ts'

/* The unmodified OpenAI library through the whole life of a task, at every kind of upstream. */

let stage: VideoStage | undefined
afterEach(async () => {
  await stage?.close()
  stage = undefined
})

const open = async (kind: Kind, options: StageOptions = {}) =>
  (stage = await VideoStage.open(kind, { tasks: { poll: 20 }, ...options }))

describe.each(KINDS)('before %s', kind => {
  test('a task is created, polled to its end, downloaded whole and in parts, listed and deleted', async () => {
    const { client, upstream, ...rest } = await open(kind).then(one => ({
      client: one.client,
      upstream: one.upstream,
      one,
    }))
    const made = await client.videos.create({ model: PUBLIC, prompt: 'A boat at dawn', seconds: '8', size: '1280x720' })
    // Kling's model makes videos of 5 or 10 seconds.
    const seconds = kind === 'kling' ? '10' : '8'
    expect(made).toMatchObject({ object: 'video', model: PUBLIC, seconds, prompt: 'A boat at dawn', error: null })
    expect(made.id).toMatch(/^video_[0-9a-f]{32}$/)
    expect(made).toHaveProperty('task_id', made.id)
    const done = await rest.one.ended(made.id)
    expect(done).toMatchObject({ status: 'completed', progress: 100, size: '1280x720' })
    expect(done).toHaveProperty('url', `${rest.one.testServer.server.address}/v1/videos/${made.id}/content`)
    expect(JSON.stringify(done)).not.toContain(upstream.last.id)
    const clip = clipBytes({ seed: upstream.last.id, size: upstream.size, mediaType: 'video/mp4' })
    const whole = await client.videos.downloadContent(made.id)
    expect(whole.headers.get('content-type')).toBe('video/mp4')
    expect(whole.headers.get('content-length')).toBe(String(upstream.size))
    expect(whole.headers.get('content-disposition')).toBe(`attachment; filename="${made.id}.mp4"`)
    expect(Buffer.from(await whole.arrayBuffer()).equals(clip)).toBe(true)
    const part = await client.videos.downloadContent(made.id, {}, { headers: { range: 'bytes=1000-1999' } })
    expect(part.status).toBe(206)
    expect(part.headers.get('content-range')).toBe(`bytes 1000-1999/${upstream.size}`)
    expect(Buffer.from(await part.arrayBuffer()).equals(clip.subarray(1000, 2000))).toBe(true)
    const listed = []
    for await (const one of client.videos.list()) listed.push(one.id)
    expect(listed).toEqual([made.id])
    expect(await client.videos.delete(made.id)).toEqual({ id: made.id, object: 'video.deleted', deleted: true })
    await expect(client.videos.retrieve(made.id)).rejects.toMatchObject({ status: 404 })
    expect(upstream.count('submit')).toBe(1)
  })

  test('a picture to begin with arrives as a file, a data URL and an object', async () => {
    const { client, upstream } = await open(kind)
    const url = `data:image/png;base64,${PIXEL.toString('base64')}`
    const file = await toFile(PIXEL, 'a.png', { type: 'image/png' })
    await client.videos.create({ model: PUBLIC, prompt: 'a', input_reference: file })
    await client.videos.create({ model: PUBLIC, prompt: 'a', input_reference: { image_url: url } })
    await client.post('/videos', { body: { model: PUBLIC, prompt: 'a', input_reference: url } })
    await client.post('/videos', { body: { model: PUBLIC, prompt: 'a', input_reference: { image_url: url } } })
    expect(upstream.count('submit')).toBe(4)
    expect(upstream.tasks.size).toBe(4)
  })

  test('a task that a review stopped shows the reason, and its content is 409', async () => {
    const { client, upstream, ended } = bound(await open(kind))
    upstream.life = { queued: 0, running: 1, outcome: 'review' }
    const { id } = await client.videos.create({ model: PUBLIC, prompt: 'a' })
    const failed = await ended(id)
    expect(failed.status).toBe('failed')
    expect(failed.error?.code).toMatch(/moderation|policy|safety|sensitive/)
    expect(failed.error?.message).not.toBe('')
    await expect(client.videos.downloadContent(id)).rejects.toMatchObject({ status: 409, code: 'video_failed' })
  })

  test('a task that broke fails with another code', async () => {
    const { client, upstream, ended } = bound(await open(kind))
    upstream.life = { queued: 0, running: 1, outcome: 'broken' }
    const failed = await ended((await client.videos.create({ model: PUBLIC, prompt: 'a' })).id)
    expect(failed.error?.code).not.toMatch(/moderation|policy|safety|sensitive/)
  })
})

const bound = (one: VideoStage) => ({
  client: one.client,
  upstream: one.upstream,
  testServer: one.testServer,
  ended: (id: string) => one.ended(id),
})
