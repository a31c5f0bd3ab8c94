import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { KEY, keyOf } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { clientAt, PUBLIC, type StageOptions, TASKS, VideoStage } from './stage.ts'
import { type Kind, type Loose, PIXEL } from './upstreams/index.ts'

/* Faulty requests of callers, by mistake or on purpose. */

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

describe('ids', () => {
  test('of no task, of any look, are 404 at every endpoint', async () => {
    const { upstream } = await open()
    const ids = [
      ...['video_x', '..', '%2e%2e', '..%2f..%2fetc%2fpasswd', 'a%2Fb', '%00', 'video_%00', '%ff', '%', '%zz', '*'],
      ...["'%20or%201=1--", '%F0%9F%8E%AC', 'x'.repeat(10_000), 'video_../content', '%5c..%5c', 'null', '0'],
    ]
    const paths = (id: string) => [
      ...[`/v1/videos/${id}`, `/v1/videos/${id}/content`, `/v1/video/generations/${id}`],
      ...[`/videovendor/v1/videos/text2video/${id}`, `/videovendor/v1/videos/image2video/${id}`],
    ]
    for (const id of ids) {
      for (const path of paths(id)) expect([400, 404, 405], path.slice(0, 60)).toContain((await ask(path)).status)
      const deleted = await ask(`/v1/videos/${id}`, undefined, {}, 'DELETE')
      expect([400, 404, 405], id.slice(0, 60)).toContain(deleted.status)
      const remixed = await ask(`/v1/videos/${id}/remix`, { prompt: 'a' })
      expect([400, 404, 405], id.slice(0, 60)).toContain(remixed.status)
    }
    expect(upstream.seen).toEqual([])
  })
})

describe('wrong types', () => {
  const WRONG: readonly unknown[] = [
    7,
    true,
    [],
    {},
    [1],
    { a: 1 },
    null,
    '',
    ' ',
    -1,
    1e308,
    'x'.repeat(5000),
    '\u0000',
  ]
  const ENDPOINTS: { readonly [path: string]: readonly string[] } = {
    '/v1/videos': ['model', 'prompt', 'input_reference', 'seconds', 'size'],
    '/v1/video/generations': ['model', 'prompt', 'duration', 'image', 'size', 'seed', 'n', 'width', 'height', 'user'],
    '/videovendor/v1/videos/text2video': ['model', 'prompt', 'duration', 'aspect_ratio', 'mode', 'negative_prompt'],
    '/videovendor/v1/videos/image2video': ['model', 'model_name', 'prompt', 'image', 'image_tail', 'external_task_id'],
  }

  test.each(['videos', 'veo', 'kling'] as const)('in every field are answered, never by 5xx: %s', async kind => {
    await open(kind)
    const odd: string[] = []
    let tried = 0
    for (const [path, fields] of Object.entries(ENDPOINTS))
      for (const field of fields)
        for (const value of WRONG) {
          const usual = {
            model: PUBLIC,
            prompt: 'a',
            ...(path.endsWith('image2video') ? { image: PIXEL.toString('base64') } : {}),
          }
          const { status } = await ask(path, { ...usual, [field]: value })
          tried++
          if (status >= 500) odd.push(`${path} ${field} ${JSON.stringify(value).slice(0, 30)} ${status}`)
        }
    for (const body of ['', '[]', '7', '"a"', 'null', '{', '{"model":"film","prompt":"a"}}'])
      for (const path of Object.keys(ENDPOINTS)) {
        const { status } = await ask(path, body)
        tried++
        if (status !== 400) odd.push(`${path} ${body} ${status}`)
      }
    expect(odd).toEqual([])
    expect(tried).toBeGreaterThan(300)
  })
})

test('a reference of another key’s task does not lead to its video', async () => {
  const other = 'sk-other-0123456789'
  const { testServer, upstream } = await open('kling', { config: { keys: [keyOf(KEY, 'dev'), keyOf(other, 'other')] } })
  const body = { model: PUBLIC, prompt: 'a', external_task_id: 'job-1' }
  expect((await ask('/videovendor/v1/videos/text2video', body)).status).toBe(200)
  upstream.fail('submit', 'break', 1)
  const theirs = { authorization: `Bearer ${other}` }
  expect((await ask('/videovendor/v1/videos/text2video', body, theirs)).status).toBe(502)
  const [task] = (await clientAt(testServer, other).videos.list()).data
  expect(task).toMatchObject({ status: 'failed', error: { code: 'submit_unanswered' } })
  expect(upstream.count('find')).toBe(0)
})

describe('idempotency keys', () => {
  const create = (body: object, key: string) =>
    ask('/v1/videos', { model: PUBLIC, prompt: 'a', ...body }, { 'idempotency-key': key })

  test('of 300 characters are refused', async () => {
    await open()
    expect((await create({}, 'k'.repeat(300))).status).toBe(400)
    expect((await create({}, 'k'.repeat(255))).status).toBe(200)
  })

  test('of another request are 422, whatever of it differs', async () => {
    const { upstream } = await open()
    const { json } = await create({ seconds: '8' }, 'k')
    for (const body of [{ seconds: '4' }, { seconds: '8', prompt: 'b' }, {}, { seconds: '8', size: '720x1280' }])
      expect((await create(body, 'k')).json.error).toMatchObject({ code: 'idempotency_key_reused' })
    expect((await create({ prompt: 'b', seconds: '8' }, 'k')).status).toBe(422)
    expect((await create({ seconds: '8' }, 'k')).json.task_id).toBe(json.task_id)
    expect(upstream.count('submit')).toBe(1)
  })

  test('of a form, written twice, are one request', async () => {
    await open()
    const send = async () => {
      const body = new FormData()
      body.set('model', PUBLIC)
      body.set('prompt', 'a')
      body.set('input_reference', new Blob([new Uint8Array(PIXEL)], { type: 'image/png' }), 'a.png')
      const headers = { authorization: `Bearer ${KEY}`, 'idempotency-key': 'form' }
      const answer = await fetch(`${stage!.testServer.server.address}/v1/videos`, { method: 'POST', headers, body })
      return ((await answer.json()) as Loose).id
    }
    expect(await send()).toBe(await send())
    expect(stage!.upstream.count('submit')).toBe(1)
  })

  test('of a remix are those of a remix', async () => {
    await open()
    const id = await finished()
    const remix = (prompt: string) => ask(`/v1/videos/${id}/remix`, { prompt }, { 'idempotency-key': 'r' })
    const { json } = await remix('b')
    expect((await remix('b')).json.id).toBe(json.id)
    expect((await remix('c')).status).toBe(422)
    expect((await create({ prompt: 'b' }, 'r')).status).toBe(422)
    expect(stage!.upstream.count('remix')).toBe(1)
  })

  test('raced by 50 at once make one task, those of another key another', async () => {
    const other = 'sk-other-0123456789'
    const { testServer, upstream } = await open('videos', {
      config: { keys: [keyOf(KEY, 'dev'), keyOf(other, 'other')] },
    })
    upstream.delay = 30
    const ids = await Promise.all(Array.from({ length: 50 }, async () => (await create({}, 'race')).json.id))
    expect(new Set(ids).size).toBe(1)
    const strange = await testServer.ask(
      '/v1/videos',
      { model: PUBLIC, prompt: 'z' },
      { headers: { authorization: `Bearer ${other}`, 'idempotency-key': 'race' } },
    )
    expect(strange.json.id).not.toBe(ids[0])
    expect(upstream.count('submit')).toBe(2)
  })
})

test('a picture of 100 MB is refused, as a form and as JSON, and the gateway lives', async () => {
  const { upstream } = await open()
  const large = Buffer.concat([PIXEL, Buffer.alloc(100 * 2 ** 20)])
  const body = new FormData()
  body.set('model', PUBLIC)
  body.set('prompt', 'a')
  body.set('input_reference', new Blob([large], { type: 'image/png' }), 'a.png')
  const headers = { authorization: `Bearer ${KEY}` }
  const post = (sent: FormData | string, about = {}) =>
    fetch(`${stage!.testServer.server.address}/v1/videos`, {
      method: 'POST',
      headers: { ...headers, ...about },
      body: sent,
    }).then(
      ({ status }) => status,
      () => 413,
    )
  expect(await post(body)).toBe(413)
  const text = JSON.stringify({
    model: PUBLIC,
    prompt: 'a',
    input_reference: `data:image/png;base64,${large.toString('base64')}`,
  })
  expect(await post(text, { 'content-type': 'application/json' })).toBe(413)
  expect((await ask('/v1/videos', { model: PUBLIC, prompt: 'a' })).status).toBe(200)
  expect(upstream.count('submit')).toBe(1)
})

describe('other tasks', () => {
  test('submits count against limits, questions about tasks do not', async () => {
    const { client } = await open('videos', { group: { rpm: 2 } })
    const statuses: number[] = []
    for (let sent = 0; sent < 4; sent++) statuses.push((await ask('/v1/videos', { model: PUBLIC, prompt: 'a' })).status)
    expect(statuses).toEqual([200, 200, 429, 429])
    const { data } = await client.videos.list()
    expect(data).toHaveLength(2)
    for (let asked = 0; asked < 5; asked++) expect((await ask(`/v1/videos/${data[0]!.id}`)).status).toBe(200)
  })

  test('two gateways with one store ask at most once in five seconds, and show the same state', async () => {
    const { scene, folder, testServer, upstream } = await open('videos', { tasks: { poll: 0 } })
    const other = await TestServer.open([scene.channel], {
      allow: ['127.0.0.0/8'],
      keep: folder,
      config: { tasks: { ...TASKS, poll: 0 } },
    })
    closing.push(() => other.server.close(0))
    upstream.life = { queued: 0, running: 0, outcome: 'completed' }
    const { id } = await clientAt(testServer).videos.create({ model: PUBLIC, prompt: 'a' })
    await sleep(5100)
    const seen = await Promise.all(
      Array.from({ length: 40 }, (_, at) => clientAt(at % 2 === 0 ? testServer : other).videos.retrieve(id)),
    )
    expect(upstream.count('poll')).toBe(1)
    await sleep(100)
    expect(seen.length).toBe(40)
    for (const one of [testServer, other]) expect((await clientAt(one).videos.retrieve(id)).status).toBe('completed')
    expect(upstream.count('poll')).toBe(1)
  })
})
