import { createHmac } from 'node:crypto'
import OpenAI, { toFile } from 'openai'
import { afterEach, expect, test } from 'vitest'
import {
  clipBytes,
  type Kind,
  KLING_ACCESS,
  KLING_SECRET,
  OPENAI_KEY,
  openVideoUpstream,
  PIXEL,
  VEO_KEY,
  type VideoScene,
} from './upstreams/index.ts'

/* The scripted upstreams behave as their publishers describe, as far as tests depend on it. */

const closing: VideoScene[] = []
afterEach(async () => {
  for (const scene of closing.splice(0)) await scene.close()
})

async function open(kind: Kind, options: Parameters<typeof openVideoUpstream>[1] = {}): Promise<VideoScene> {
  const scene = await openVideoUpstream(kind, options)
  closing.push(scene)
  return scene
}

const token = (claims: object = {}, secret = KLING_SECRET): string => {
  const now = Math.floor(Date.now() / 1000)
  const body = { iss: KLING_ACCESS, exp: now + 1800, nbf: now - 5, ...claims }
  const text = [{ alg: 'HS256', typ: 'JWT' }, body]
    .map(one => Buffer.from(JSON.stringify(one)).toString('base64url'))
    .join('.')
  return `Bearer ${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

test('OpenAI: the SDK runs a task from submission to deletion', async () => {
  const { upstream } = await open('videos')
  const client = new OpenAI({ apiKey: OPENAI_KEY, baseURL: `${upstream.address}/v1`, maxRetries: 0 })
  const picture = await toFile(PIXEL, 'a.png', { type: 'image/png' })
  const made = await client.videos.create({ prompt: 'a', model: 'sora-2', seconds: '8', input_reference: picture })
  expect(made).toMatchObject({ status: 'queued', seconds: '8', progress: 0 })
  const states = []
  for (let polls = 0; polls < 5; polls++) states.push((await client.videos.retrieve(made.id)).status)
  expect(states).toEqual(['queued', 'queued', 'in_progress', 'in_progress', 'completed'])
  const bytes = Buffer.from(await (await client.videos.downloadContent(made.id)).arrayBuffer())
  expect(bytes.equals(clipBytes({ seed: made.id, size: 4096, mediaType: 'video/mp4' }))).toBe(true)
  const remix = await client.videos.remix(made.id, { prompt: 'b' })
  expect(remix.remixed_from_video_id).toBe(made.id)
  expect((await client.videos.list({ limit: 1 })).data.map(({ id }) => id)).toEqual([remix.id])
  expect(await client.videos.delete(made.id)).toMatchObject({ deleted: true })
  await expect(client.videos.retrieve(made.id)).rejects.toMatchObject({ status: 404 })
  expect(['submit', 'poll', 'content', 'remove'].map(step => upstream.count(step as 'submit'))).toEqual([1, 6, 1, 1])
})

test('OpenAI: unknown fields, values and keys are refused', async () => {
  const { upstream } = await open('videos')
  const send = (body: object, key = OPENAI_KEY) =>
    fetch(`${upstream.address}/v1/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const bodies = [{ prompt: 'a', seconds: 8 }, { prompt: 'a', duration: 5 }, {}, { prompt: 'a', size: '1x1' }]
  for (const body of bodies) expect((await send(body)).status).toBe(400)
  expect((await send({ prompt: 'a' }, 'other')).status).toBe(401)
  expect(upstream.tasks.size).toBe(0)
})

test('Veo: an operation is polled by its name, its file fetched with the key and in ranges', async () => {
  const { upstream } = await open('veo')
  const headers = { 'x-goog-api-key': VEO_KEY, 'content-type': 'application/json' }
  const path = `${upstream.address}/v1beta/models/veo-3.1-generate-preview:predictLongRunning`
  const body = JSON.stringify({ instances: [{ prompt: 'a' }], parameters: { durationSeconds: 8 } })
  const { name } = (await (await fetch(path, { method: 'POST', headers, body })).json()) as { name: string }
  upstream.finish(upstream.last)
  // biome-ignore lint/suspicious/noExplicitAny: only one path of it is looked at
  const done = (await (await fetch(`${upstream.address}/v1beta/${name}`, { headers })).json()) as any
  const { uri } = done.response.generateVideoResponse.generatedSamples[0].video
  expect((await fetch(uri)).status).toBe(403)
  const part = await fetch(uri, { headers: { ...headers, range: 'bytes=100-199' } })
  expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 100-199/4096'])
})

test('Kling: wrong, premature, expired and too long-lived tokens are refused', async () => {
  const { upstream } = await open('kling')
  const now = Math.floor(Date.now() / 1000)
  const code = async (authorization: string) => {
    const body = JSON.stringify({ prompt: 'a', model_name: 'kling-v2-6', duration: '5' })
    const headers = { authorization, 'content-type': 'application/json' }
    const answer = await fetch(`${upstream.address}/v1/videos/text2video`, { method: 'POST', headers, body })
    return ((await answer.json()) as { code: number }).code
  }
  expect(await code(token())).toBe(0)
  expect(await code(token({}, 'other'))).toBe(1000)
  expect(await code(token({ iss: 'other' }))).toBe(1002)
  expect(await code(token({ nbf: now + 60 }))).toBe(1003)
  expect(await code(token({ exp: now - 1 }))).toBe(1004)
  expect(await code(token({ exp: now + 36_000 }))).toBe(1002)
  expect(upstream.tasks.size).toBe(1)
})

test('faults: not executed, executed without an answer, answered in part', async () => {
  const { upstream } = await open('videos')
  const send = () =>
    fetch(`${upstream.address}/v1/videos`, {
      method: 'POST',
      headers: { authorization: `Bearer ${OPENAI_KEY}`, 'content-type': 'application/json' },
      body: '{"prompt":"a"}',
    }).then(answer => answer.text())
  upstream.fail('submit', 'break', 1)
  await expect(send()).rejects.toThrow()
  expect(upstream.tasks.size).toBe(0)
  upstream.fail('submit', 'break-after', 1)
  await expect(send()).rejects.toThrow()
  expect(upstream.tasks.size).toBe(1)
  upstream.fail('submit', 'break-half', 1)
  await expect(send()).rejects.toThrow()
  expect([upstream.tasks.size, upstream.count('submit')]).toEqual([2, 3])
})
