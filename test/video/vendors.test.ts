import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI, { toFile } from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { KEY } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import {
  type Clip,
  clipBytes,
  KINDS,
  type Kind,
  KLING_ACCESS,
  KLING_SECRET,
  openVideoUpstream,
  PIXEL,
  VEO_KEY,
  type VideoScene,
} from './upstreams/index.ts'

/*
 * A complete task at each kind of upstream: the requests it receives, and that its credential goes nowhere else (trap
 * 84).
 */

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Stage extends VideoScene {
  readonly testServer: TestServer
  readonly client: OpenAI
}

async function open(kind: Kind, options: Parameters<typeof openVideoUpstream>[1] = {}): Promise<Stage> {
  const keep = mkdtempSync(join(tmpdir(), 'interlingua-videos-'))
  const scene = await openVideoUpstream(kind, options)
  const tasks = { poll: 10, retention: 0, limit: 2 ** 30, vendorPath: 'videovendor' }
  const testServer = await TestServer.open([scene.channel], { allow: ['127.0.0.0/8'], keep, config: { tasks } })
  const client = new OpenAI({ apiKey: KEY, baseURL: `${testServer.server.address}/v1`, maxRetries: 0 })
  closing.push(
    () => rmSync(keep, { recursive: true }),
    () => scene.close(),
    () => testServer.server.close(0),
  )
  return { ...scene, testServer, client }
}

async function ended({ client }: Stage, id: string): Promise<OpenAI.Video> {
  for (;;) {
    const video = await client.videos.retrieve(id)
    if (video.status === 'completed' || video.status === 'failed') return video
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

const REQUEST = { model: 'm', prompt: 'A boat.', seconds: '8', size: '1280x720' } as const
const clipOf = ({ upstream }: Stage): Clip => ({ seed: upstream.last.id, size: upstream.size, mediaType: 'video/mp4' })

describe.each(KINDS)('%s', kind => {
  it('a task is made, followed and downloaded, whole and by a range', async () => {
    const stage = await open(kind)
    const made = await stage.client.videos.create(REQUEST)
    expect(['queued', 'in_progress']).toContain(made.status)
    const done = await ended(stage, made.id)
    expect(done).toMatchObject({ id: made.id, status: 'completed', progress: 100, model: 'm', error: null })
    const answer = await stage.client.videos.downloadContent(made.id)
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect(bytes.equals(clipBytes(clipOf(stage)))).toBe(true)
    const part = await fetch(`${stage.testServer.server.address}/v1/videos/${made.id}/content`, {
      headers: { authorization: `Bearer ${KEY}`, range: 'bytes=1000-1999' },
    })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 1000-1999/4096'])
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(1000, 2000))).toBe(true)
    expect([stage.upstream.count('submit'), stage.storage.leaks]).toEqual([1, 0])
    const shown = JSON.stringify([made, done])
    expect(shown).not.toContain(stage.upstream.last.id)
    expect(shown).not.toContain(stage.upstream.address)
    expect(shown).not.toContain(stage.storage.address)
  })

  it('trap 84: behind a redirect or at a public address, the file is fetched without the credential', async () => {
    const stage = await open(kind, { stored: true })
    const { id } = await stage.client.videos.create(REQUEST)
    await ended(stage, id)
    const bytes = Buffer.from(await (await stage.client.videos.downloadContent(id)).arrayBuffer())
    expect(bytes.equals(clipBytes(clipOf(stage)))).toBe(true)
    expect([stage.storage.count('content'), stage.storage.leaks]).toEqual([1, 0])
  })

  it('a picture to begin with reaches the upstream in its own way', async () => {
    const stage = await open(kind)
    const input_reference = await toFile(PIXEL, 'a.png', { type: 'image/png' })
    const { id } = await stage.client.videos.create({ model: 'm', prompt: 'Sail.', input_reference })
    expect((await ended(stage, id)).status).toBe('completed')
    const { url, body, files } = stage.upstream.seen.find(({ step }) => step === 'submit')!
    const found = {
      videos: files[0]?.bytes.toString('base64'),
      veo: body.instances?.[0].image.bytesBase64Encoded,
      kling: body.image,
    }[kind]
    expect(found).toBe(PIXEL.toString('base64'))
    if (kind === 'kling') expect(url.pathname).toBe('/v1/videos/image2video')
  })

  it('a review of content is told apart from what broke, and from what gives no reason', async () => {
    const stage = await open(kind)
    const failed = async (outcome: 'review' | 'broken' | 'silent') => {
      stage.upstream.life = { queued: 0, running: 0, outcome }
      const { id } = await stage.client.videos.create(REQUEST)
      const { status, error } = await ended(stage, id)
      return { status, ...error }
    }
    const [review, broken, silent] = [await failed('review'), await failed('broken'), await failed('silent')]
    expect([review, broken, silent].map(({ status }) => status)).toEqual(['failed', 'failed', 'failed'])
    expect(review.code).toMatch(/moderation|policy/)
    expect(broken.code).not.toMatch(/moderation|policy/)
    expect(review.message).toMatch(/./)
    expect(broken.message).toMatch(/./)
    expect(silent.message ?? 'no error').toMatch(/./)
  })

  it('a refusal says what it says, without the credential; the account’s fault is not the caller’s', async () => {
    const stage = await open(kind)
    const secrets = [stage.channel.key!, KLING_ACCESS, KLING_SECRET, VEO_KEY]
    const message = `No: ${secrets.join(', ')}.`
    const body = { code: 1201, message, error: { code: 400, message } }
    stage.upstream.fail('submit', { refuse: 400, body }, 1)
    const refused = await stage.client.videos
      .create(REQUEST)
      .catch((error: unknown) => error as InstanceType<typeof OpenAI.APIError>)
    expect(refused).toMatchObject({ status: 400 })
    for (const text of [JSON.stringify(refused), JSON.stringify(stage.testServer.lines)])
      for (const secret of secrets.slice(0, kind === 'kling' ? 3 : 1)) expect(text).not.toContain(secret)
    stage.upstream.fail('submit', { refuse: 401, body: { code: 1004, message: 'expired', error: { code: 401 } } }, 1)
    await expect(stage.client.videos.create(REQUEST)).rejects.toMatchObject({ status: 503 })
    expect(stage.upstream.tasks.size).toBe(0)
  })
})

it('Kling: an error under 200 is an error', async () => {
  const stage = await open('kling')
  stage.upstream.fail('submit', { refuse: 200, body: { code: 1301, message: 'Risk control.', request_id: 'r' } }, 1)
  await expect(stage.client.videos.create(REQUEST)).rejects.toMatchObject({
    status: 400,
    code: 'content_policy_violation',
  })
  stage.upstream.fail('submit', { refuse: 200, body: { code: 1303, message: 'Too many.', request_id: 'r' } }, 1)
  await expect(stage.client.videos.create(REQUEST)).rejects.toMatchObject({ status: 429 })
})

it('Kling: a submit that was accepted but not answered is found again by its own id', async () => {
  const stage = await open('kling')
  stage.upstream.fail('submit', 'break-after', 1)
  await stage.client.videos.create(REQUEST).catch(() => {})
  const { data } = await stage.client.videos.list()
  const { status } = await ended(stage, data[0]!.id)
  expect([status, stage.upstream.count('submit'), stage.upstream.count('find') > 0]).toEqual(['completed', 1, true])
})

it('a remix is made where its original was, and nowhere else', async () => {
  const stage = await open('videos')
  const { id } = await stage.client.videos.create(REQUEST)
  await ended(stage, id)
  const original = stage.upstream.last
  const remix = await stage.client.videos.remix(id, { prompt: 'At night.' })
  expect(remix).toMatchObject({ model: 'm', remixed_from_video_id: id, prompt: 'At night.' })
  expect(stage.upstream.last.remixOf).toBe(original.id)
  expect((await ended(stage, remix.id)).status).toBe('completed')
  for (const kind of ['veo', 'kling'] as const) {
    const other = await open(kind)
    const made = await other.client.videos.create(REQUEST)
    await ended(other, made.id)
    await expect(other.client.videos.remix(made.id, { prompt: 'a' })).rejects.toMatchObject({ status: 400 })
    expect(other.upstream.count('submit')).toBe(1)
  }
})
