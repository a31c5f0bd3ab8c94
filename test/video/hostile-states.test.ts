import { afterEach, describe, expect, test } from 'vitest'
import { TestServer } from '../builders/gateway.ts'
import { PUBLIC, type StageOptions, TASKS, VideoStage } from './stage.ts'
import { type Kind, OPENAI_KEY } from './upstreams/index.ts'
import { nameOf } from './upstreams/veo.ts'

/* Wrong task states from upstreams, by mistake or on purpose. */

const closing: (() => unknown)[] = []
let stage: VideoStage | undefined
afterEach(async () => {
  await stage?.close()
  stage = undefined
  for (const close of closing.splice(0)) await close()
})

const open = async (kind: Kind = 'videos', options: StageOptions = {}) =>
  (stage = await VideoStage.open(kind, { tasks: { poll: 20 }, ...options }))

const ask = (path: string, body?: unknown, headers = {}, method = body === undefined ? 'GET' : 'POST') =>
  stage!.testServer.ask(path, body, { method, headers })

async function finished(): Promise<string> {
  const { id } = await stage!.client.videos.create({ model: PUBLIC, prompt: 'a' })
  await stage!.ended(id)
  return id
}

describe('states', () => {
  const videoOf = (body: object) => ({
    id: stage!.upstream.last.id,
    object: 'video',
    model: 'sora-2',
    status: 'in_progress',
    created_at: 1,
    ...body,
  })
  const state = async (id: string, body: object) => {
    // The background polls as well, so the answer stays until both have received it.
    stage!.upstream.fail('poll', { refuse: 200, body: videoOf(body) })
    await stage!.polled(id)
    return (await ask(`/v1/videos/${id}`)).json
  }
  const made = async () => {
    await open('videos', { tasks: { poll: 0 } })
    // Without background polling, the only status calls are those of this test.
    await stage!.testServer.server.close(0)
    const testServer = await TestServer.open([stage!.scene.channel], {
      allow: ['127.0.0.0/8'],
      keep: stage!.folder,
      config: { tasks: { ...TASKS, poll: 30 } },
    })
    closing.push(() => testServer.server.close(0))
    Object.assign(stage!, { testServer })
    stage!.upstream.life = { queued: 1000, running: 0, outcome: 'completed' }
    return (await stage!.client.videos.create({ model: PUBLIC, prompt: 'a' })).id
  }

  test('progress out of bounds or of another type is a number from 0 to 100 that does not go back', async () => {
    const id = await made()
    const found: unknown[] = []
    for (const progress of [-5, 40, '60', 1e9, Number.MAX_VALUE, {}, [], null, 20, 'x', 99.5])
      found.push((await state(id, { progress })).progress)
    let last = 0
    for (const one of found) {
      expect(one).toBeTypeOf('number')
      expect(one).toBeGreaterThanOrEqual(last)
      expect(one).toBeLessThanOrEqual(100)
      last = one as number
    }
  })

  test('that go back or are unknown do not bring a task back', async () => {
    const id = await made()
    expect((await state(id, { status: 'in_progress' })).status).toBe('in_progress')
    expect((await state(id, { status: 'queued' })).status).toBe('in_progress')
    expect((await state(id, { status: 'melting' })).status).toBe('in_progress')
    for (const status of [7, null, {}, ['completed'], ''])
      expect((await state(id, { status })).status).toBe('in_progress')
    expect((await state(id, { status: 'completed' })).status).toBe('completed')
    expect((await state(id, { status: 'failed', error: { code: 'x', message: 'y' } })).status).toBe('completed')
  })

  test('of a failure have neither credentials nor addresses nor the upstream’s ids', async () => {
    const id = await made()
    const { upstream } = stage!
    const message = `Task ${upstream.last.id} failed at ${upstream.address}/v1/videos with Bearer ${OPENAI_KEY} at 'videos-channel' 10.1.2.3:8080`
    const error = { code: `c-${OPENAI_KEY}`, message, trace: OPENAI_KEY }
    const failed = await state(id, { status: 'failed', error })
    expect(failed.status).toBe('failed')
    const paths = [
      `/v1/videos/${id}`,
      `/v1/video/generations/${id}`,
      `/videovendor/v1/videos/text2video/${id}`,
      `/v1/videos/${id}/content`,
    ]
    const texts = [JSON.stringify(failed), ...(await Promise.all(paths.map(async path => (await ask(path)).text)))]
    for (const text of texts)
      for (const secret of [
        OPENAI_KEY,
        upstream.address,
        upstream.last.id,
        'videos-channel',
        `127.0.0.1:${new URL(upstream.address).port}`,
      ])
        expect(text.replaceAll(stage!.testServer.server.address, '')).not.toContain(secret)
  })

  test('under names that the gateway answers itself do not reach callers', async () => {
    const id = await made()
    const strange = { task_id: 'task_999', url: 7, error: 'none', remixed_from_video_id: 5, created_at: 'x', size: 3 }
    const queued = await state(id, strange)
    expect(queued).toMatchObject({ id, task_id: id, url: null, error: null, remixed_from_video_id: null })
    expect(queued.created_at).toBeTypeOf('number')
    const done = await state(id, { ...strange, status: 'completed', progress: '100', url: { a: 1 } })
    const url = `${stage!.testServer.server.address}/v1/videos/${id}/content`
    expect(done).toMatchObject({ id, task_id: id, status: 'completed', progress: 100, url })
    const { json } = await ask(`/videovendor/v1/videos/text2video/${id}`)
    expect(json.data).toMatchObject({ task_id: id, task_status: 'succeed', task_result: { videos: [{ url }] } })
    expect((await ask(`/v1/video/generations/${id}`)).json).toMatchObject({ id, task_id: id, status: 'completed', url })
  })

  test.each([
    [{ status: 'failed' }],
    [{ status: 'failed', error: null }],
    [{ status: 'expired', error: { code: 'x' } }],
  ])('of a failure always have a reason: %j', async body => {
    const id = await made()
    const failed = await state(id, body)
    expect(failed).toMatchObject({ status: 'failed', error: { message: expect.stringMatching(/./) } })
    expect((await ask(`/v1/video/generations/${id}`)).json.error.message).toMatch(/./)
    expect((await ask(`/videovendor/v1/videos/text2video/${id}`)).json.data.task_status_msg).toMatch(/./)
    expect((await ask(`/v1/videos/${id}/content`)).json.error.message).toMatch(/: ./)
  })

  test.each(['', 'null', '[]', '{', '{}', '<html>', '{"error":{"message":"no"}}', '"completed"'])(
    'in answers that are none leave the task as it is: %s',
    async body => {
      const id = await made()
      stage!.upstream.fail('poll', { refuse: 200, body })
      await stage!.polled(id)
      expect((await ask(`/v1/videos/${id}`)).json).toMatchObject({ status: 'queued', error: null })
    },
  )

  test('that an upstream tells in a text of many megabytes are not taken', async () => {
    const id = await made()
    await state(id, { prompt: 'x'.repeat(2 ** 21) })
    expect((await ask(`/v1/videos/${id}`)).text.length).toBeLessThan(2 ** 20)
  })
})

describe('errors of upstreams', () => {
  const secrets = () => [OPENAI_KEY, new URL(stage!.upstream.address).host, 'videos-channel']
  const clean = (text: string) => {
    for (const secret of secrets()) expect(text).not.toContain(secret)
  }

  test.each([400, 401, 402, 403, 404, 409, 418, 429, 500, 502, 503])(
    '%d to a download, a deletion and a remix: no credentials, and no fault of the account’s is the caller’s',
    async status => {
      const { upstream } = await open()
      const id = await finished()
      const message = `Bearer ${OPENAI_KEY} at ${upstream.address} of 'videos-channel'`
      const refuse = {
        refuse: status,
        body: { error: { message, type: OPENAI_KEY, code: OPENAI_KEY, param: message } },
      }
      for (const step of ['content', 'remove', 'remix'] as const) upstream.fail(step, refuse)
      const answers = [
        await ask(`/v1/videos/${id}/content`),
        await ask(`/v1/videos/${id}/content`, undefined, {}, 'HEAD'),
        await ask(`/v1/videos/${id}/remix`, { prompt: 'b' }),
        await ask(`/v1/videos/${id}`, undefined, {}, 'DELETE'),
      ]
      for (const answer of answers) {
        expect([401, 402, 403]).not.toContain(answer.status)
        clean(JSON.stringify(answer))
      }
      clean(
        JSON.stringify(stage!.testServer.lines.map(({ fields }) => fields)).replaceAll(
          /videos-channel|127\.0\.0\.1:\d+/g,
          '',
        ),
      )
      expect(answers[0]!.status).toBe({ 403: 410, 404: 410 }[status] ?? answers[1]!.status)
    },
  )
})

describe('answers of other upstreams', () => {
  const DONE: readonly (readonly [Kind, string, (id: string) => unknown, string])[] = [
    [
      'kling',
      'no videos',
      id => ({ code: 0, data: { task_id: id, task_status: 'succeed', task_result: { videos: [] } } }),
      'failed',
    ],
    ['kling', 'no result', id => ({ code: 0, data: { task_id: id, task_status: 'succeed' } }), 'failed'],
    [
      'kling',
      'an address that is none',
      id => ({ code: 0, data: { task_id: id, task_status: 'succeed', task_result: { videos: [{ url: 7 }] } } }),
      'failed',
    ],
    ['kling', 'a word of no state', id => ({ code: 0, data: { task_id: id, task_status: 'melting' } }), 'in_progress'],
    ['kling', 'an error under 200', () => ({ code: 5000, message: 'later', data: null }), 'queued'],
    [
      'kling',
      'another task',
      () => ({ code: 0, data: { task_id: 'other', task_status: 'processing' } }),
      'in_progress',
    ],
    ['veo', 'no videos', name => ({ name, done: true, response: {} }), 'failed'],
    ['veo', 'no response', name => ({ name, done: true }), 'failed'],
    [
      'veo',
      'samples that are none',
      name => ({ name, done: true, response: { generateVideoResponse: { generatedSamples: [7, null, {}] } } }),
      'failed',
    ],
    ['veo', 'a done that is a word', name => ({ name, done: 'true' }), 'in_progress'],
    ['veo', 'a name that leads elsewhere', () => ({ name: '../../v1/other/../x', done: true }), 'in_progress'],
  ]
  test.each(DONE)('%s: %s', async (kind, _, body, status) => {
    const { client, upstream } = await open(kind)
    upstream.life = { queued: 1000, running: 0, outcome: 'completed' }
    const { id } = await client.videos.create({ model: PUBLIC, prompt: 'a' })
    const { last } = upstream
    upstream.fail('poll', { refuse: 200, body: body(kind === 'veo' ? nameOf(last) : last.id) })
    await stage!.polled(id)
    const found = await client.videos.retrieve(id)
    expect(found.status).toBe(status)
    if (status === 'failed') expect(found.error!.message).toMatch(/./)
    const content = await ask(`/v1/videos/${id}/content`)
    expect(content.status).toBe(409)
  })

  const ADDRESSES = [
    'file:///etc/passwd',
    'http://169.254.169.254/',
    'http://localhost:1/x',
    'ftp://a/b',
    '/etc/passwd',
    'gs://bucket/x',
    'http://[::ffff:10.0.0.1]/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://user:pass@10.0.0.1/',
    '  ',
    'https://',
    `http://${'a'.repeat(300)}/`,
  ]
  test.each(['kling', 'veo'] as const)('%s: addresses of files that are not fetched from', async kind => {
    for (const url of ADDRESSES) {
      const { client, upstream } = await open(kind, { allow: [] })
      upstream.life = { queued: 1000, running: 0, outcome: 'completed' }
      const { id } = await client.videos.create({ model: PUBLIC, prompt: 'a' })
      const { last } = upstream
      const videos = {
        code: 0,
        data: {
          task_id: last.id,
          task_status: 'succeed',
          task_result: { videos: [{ id: '1', url, duration: '5' }] },
        },
      }
      const samples = {
        name: kind === 'veo' ? nameOf(last) : '',
        done: true,
        response: { generateVideoResponse: { generatedSamples: [{ video: { uri: url } }] } },
      }
      upstream.fail('poll', { refuse: 200, body: kind === 'veo' ? samples : videos })
      const { status } = await stage!.ended(id)
      expect(status, url).toBe('completed')
      const answer = await ask(`/v1/videos/${id}/content`)
      expect([404, 410, 502, 504], url).toContain(answer.status)
      expect(answer.text).not.toMatch(/root:|10\.0\.0|169\.254|passwd/)
      await stage!.close()
      stage = undefined
    }
  })
})
