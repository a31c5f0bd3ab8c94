import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { House, KEY, keyOf } from '../faults/house.ts'
import { clientAt, PUBLIC, type StageOptions, TASKS, VideoStage } from './stage.ts'
import { type Kind, type Loose, OPENAI_KEY, type OpenAIVideos, PIXEL } from './upstreams/index.ts'
import { nameOf } from './upstreams/veo.ts'

/* What callers and upstreams do wrong, by mistake or on purpose. */

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
  stage!.house.ask(path, body, { method, headers })

async function finished(): Promise<string> {
  const { id } = await stage!.client.videos.create({ model: PUBLIC, prompt: 'a' })
  await stage!.ended(id)
  return id
}

/** A storage of files that answers as the test wants, and what it was asked. */
async function files(answer: (message: IncomingMessage, response: ServerResponse) => void) {
  const seen: IncomingMessage[] = []
  const server: Server = createServer((message, response) => {
    seen.push(message)
    answer(message, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { seen, server, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
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

  test.each(['videos', 'veo', 'kling'] as const)(
    'in every field are answered, never by 5xx: %s',
    async kind => {
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
    },
    60_000,
  )
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
      const answer = await fetch(`${stage!.house.server.address}/v1/videos`, { method: 'POST', headers, body })
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
    const { house, upstream } = await open('videos', { config: { keys: [keyOf(KEY, 'dev'), keyOf(other, 'other')] } })
    upstream.delay = 30
    const ids = await Promise.all(Array.from({ length: 50 }, async () => (await create({}, 'race')).json.id))
    expect(new Set(ids).size).toBe(1)
    const strange = await house.ask(
      '/v1/videos',
      { model: PUBLIC, prompt: 'z' },
      { headers: { authorization: `Bearer ${other}`, 'idempotency-key': 'race' } },
    )
    expect(strange.json.id).not.toBe(ids[0])
    expect(upstream.count('submit')).toBe(2)
  })
})

describe('content', () => {
  const stored = async (
    answer: (message: IncomingMessage, response: ServerResponse) => void,
    options: StageOptions = {},
  ) => {
    const storage = await files(answer)
    await open('videos', options)
    ;(stage!.upstream as OpenAIVideos).storage = storage.address
    return { storage, id: await finished() }
  }
  const content = (id: string, headers = {}, method = 'GET') =>
    ask(`/v1/videos/${id}/content`, undefined, headers, method)

  test.each(['text/html; charset=utf-8', 'application/json', 'application/xml', 'text/plain'])(
    'that is %s is no video',
    async type => {
      const { id } = await stored((_, response) =>
        response.writeHead(200, { 'content-type': type }).end('<html>please log in</html>'),
      )
      const answer = await content(id)
      expect(answer.status).toBe(502)
      expect(answer.text).not.toContain('log in')
    },
  )

  test.each(['application/octet-stream', 'binary/octet-stream', undefined])(
    'of the media type %s is a video',
    async type => {
      const { id } = await stored((_, response) =>
        response.writeHead(200, type === undefined ? {} : { 'content-type': type }).end('bytes'),
      )
      expect(await content(id)).toMatchObject({ status: 200, text: 'bytes', headers: { 'content-type': 'video/mp4' } })
    },
  )

  test('that breaks off, is shorter or longer than it says, breaks off at the caller', async () => {
    const forms: ((response: ServerResponse) => void)[] = [
      response => {
        response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': 1000 })
        response.write('half', () => response.destroy())
      },
      response => {
        response.writeHead(200, { 'content-type': 'video/mp4' })
        response.write('half', () => setTimeout(() => response.destroy(), 20))
      },
    ]
    let form = 0
    const { id } = await stored((_, response) => forms[form]!(response))
    for (form = 0; form < forms.length; form++) {
      const answer = await fetch(`${stage!.house.server.address}/v1/videos/${id}/content`, {
        headers: { authorization: `Bearer ${KEY}` },
      })
      await expect(answer.arrayBuffer()).rejects.toThrow()
    }
    expect((await ask(`/v1/videos/${id}`)).status).toBe(200)
  })

  test('behind redirects to a private address, a file, another scheme or a loop is not fetched', async () => {
    const secret = await files((_, response) => response.end('secret'))
    const targets = [
      'file:///etc/passwd',
      'http://169.254.169.254/latest',
      'http://[::1]:1/',
      'ftp://127.0.0.1/',
      'data:video/mp4;base64,AAAA',
      'javascript:1',
      'http://localhost:1/',
      'http://0.0.0.0/',
      'http://10.0.0.1/',
      '//',
      'http://',
      secret.address,
    ]
    let target = ''
    const { storage, id } = await stored((_, response) => response.writeHead(302, { location: target }).end(), {
      allow: [],
    })
    expect((await content(id)).status).toBe(502)
    expect(storage.seen).toEqual([])
    await stage!.close()
    const second = await stored((_, response) => response.writeHead(302, { location: target }).end(), { allow: [] })
    // The upstream itself redirects.
    for (target of targets) {
      stage!.upstream.fail('content', { refuse: 302, headers: { location: target }, body: '' })
      const answer = await content(second.id)
      expect([404, 410, 502], target).toContain(answer.status)
      expect(answer.text).not.toContain('secret')
    }
    expect(secret.seen).toEqual([])
  })

  test('behind a loop of redirects ends', async () => {
    let hops = 0
    const { storage, id } = await stored((message, response) =>
      response.writeHead(302, { location: `${message.url}&${++hops}` }).end(),
    )
    expect((await content(id)).status).toBe(502)
    expect(storage.seen.length).toBeLessThan(6)
  })

  test('at another host is fetched without credential, cookie or caller’s headers', async () => {
    const { storage, id } = await stored((_, response) =>
      response.writeHead(200, { 'content-type': 'video/mp4', 'set-cookie': 'a=b', 'x-internal': 'y' }).end('x'),
    )
    const answer = await content(id, { cookie: 'c=d', 'x-api-key': 'k', referer: 'r' })
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.headers)).not.toContain('set-cookie')
    expect(Object.keys(answer.headers)).not.toContain('x-internal')
    for (const { headers } of storage.seen)
      for (const name of ['authorization', 'cookie', 'x-api-key', 'referer']) expect(headers[name]).toBeUndefined()
  })

  const RANGES: readonly (readonly [string, number, string | undefined])[] = [
    ['bytes=0-0', 206, 'bytes 0-0/4096'],
    ['bytes=0-', 206, 'bytes 0-4095/4096'],
    ['bytes=-1', 206, 'bytes 4095-4095/4096'],
    ['bytes=-99999', 206, 'bytes 0-4095/4096'],
    ['bytes=4095-99999', 206, 'bytes 4095-4095/4096'],
    ['bytes=4096-', 416, 'bytes */4096'],
    ['bytes=0-1,3-4', 200, undefined],
    ['bytes=5-2', 200, undefined],
    ['bytes=a-b', 200, undefined],
    ['bytes=-', 200, undefined],
    ['lines=1-2', 200, undefined],
    ['bytes=1e1-2', 200, undefined],
    ['x'.repeat(3000), 200, undefined],
  ]
  test.each([0, 3_600_000])('in ranges of any form, kept for %d ms', async keep => {
    const { upstream } = await open('videos', { tasks: { poll: 20, keep } })
    const id = await finished()
    if (keep > 0) await keptFile(id)
    for (const [range, status, part] of RANGES) {
      const answer = await content(id, { range })
      expect([answer.status, answer.headers['content-range']], range.slice(0, 30)).toEqual([status, part])
      const head = await content(id, { range }, 'HEAD')
      expect([head.status, head.text, head.headers['content-length']], range).toEqual([
        status,
        '',
        answer.headers['content-length'],
      ])
    }
    if (keep === 0)
      for (const { headers } of upstream.seen.filter(one => one.step === 'content'))
        expect(headers.range ?? 'bytes=0-').toMatch(/^bytes=\d*-\d*$/)
  })

  test('that 200 callers leave frees its connections', async () => {
    const { upstream } = await open()
    upstream.size = 8 * 2 ** 20
    const id = await finished()
    const leave = () =>
      new Promise<void>(resolve => {
        const out = request(
          `${stage!.house.server.address}/v1/videos/${id}/content`,
          { agent: false, headers: { authorization: `Bearer ${KEY}` } },
          answer =>
            answer.once('data', () => {
              answer.destroy()
              resolve()
            }),
        )
        out.on('error', () => resolve()).end()
      })
    for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 20 }, leave))
    expect(upstream.count('content')).toBeGreaterThanOrEqual(200)
    await expect.poll(() => upstream.connections(), { timeout: 5000 }).toBeLessThan(10)
  }, 30_000)
})

/** Until the video of the task is on disk. */
async function keptFile(id: string): Promise<void> {
  const { existsSync } = await import('node:fs')
  await expect.poll(() => existsSync(`${stage!.folder}/videos/${id}`), { timeout: 5000 }).toBe(true)
  await sleep(50)
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
    // The background asks as well: the answer stays until both have had it.
    stage!.upstream.fail('poll', { refuse: 200, body: videoOf(body) })
    await sleep(150)
    return (await ask(`/v1/videos/${id}`)).json
  }
  const made = async () => {
    await open('videos', { tasks: { poll: 0 } })
    // No background: the only status calls are those of this test.
    await stage!.house.server.close(0)
    const house = await House.open([stage!.scene.channel], {
      allow: ['127.0.0.0/8'],
      keep: stage!.folder,
      config: { tasks: { ...TASKS, poll: 30 } },
    })
    closing.push(() => house.server.close(0))
    Object.assign(stage!, { house })
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
    const message = `Task ${upstream.last.id} failed at ${upstream.address}/v1/videos with Bearer ${OPENAI_KEY} at videos-channel 10.1.2.3:8080`
    let failed: Loose
    await expect
      .poll(
        async () =>
          (failed = await state(id, {
            status: 'failed',
            error: { code: `c-${OPENAI_KEY}`, message, trace: OPENAI_KEY },
          })).status,
        { timeout: 3000 },
      )
      .toBe('failed')
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
        expect(text.replaceAll(stage!.house.server.address, '')).not.toContain(secret)
  })

  test('under names that the gateway answers itself do not reach callers', async () => {
    const id = await made()
    const strange = { task_id: 'task_999', url: 7, error: 'none', remixed_from_video_id: 5, created_at: 'x', size: 3 }
    const queued = await state(id, strange)
    expect(queued).toMatchObject({ id, task_id: id, url: null, error: null, remixed_from_video_id: null })
    expect(queued.created_at).toBeTypeOf('number')
    const done = await state(id, { ...strange, status: 'completed', progress: '100', url: { a: 1 } })
    const url = `${stage!.house.server.address}/v1/videos/${id}/content`
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
      await sleep(150)
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
      const message = `Bearer ${OPENAI_KEY} at ${upstream.address} of videos-channel`
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
        JSON.stringify(stage!.house.lines.map(({ fields }) => fields)).replaceAll(
          /videos-channel|127\.0\.0\.1:\d+/g,
          '',
        ),
      )
      expect(answers[0]!.status).toBe({ 403: 410, 404: 410 }[status] ?? answers[1]!.status)
    },
  )
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
    fetch(`${stage!.house.server.address}/v1/videos`, {
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
}, 30_000)

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
    const { scene, folder, house, upstream } = await open('videos', { tasks: { poll: 0 } })
    const other = await House.open([scene.channel], {
      allow: ['127.0.0.0/8'],
      keep: folder,
      config: { tasks: { ...TASKS, poll: 0 } },
    })
    closing.push(() => other.server.close(0))
    upstream.life = { queued: 0, running: 0, outcome: 'completed' }
    const { id } = await clientAt(house).videos.create({ model: PUBLIC, prompt: 'a' })
    await sleep(5100)
    const seen = await Promise.all(
      Array.from({ length: 40 }, (_, at) => clientAt(at % 2 === 0 ? house : other).videos.retrieve(id)),
    )
    expect(upstream.count('poll')).toBe(1)
    await sleep(100)
    expect(seen.length).toBe(40)
    for (const one of [house, other]) expect((await clientAt(one).videos.retrieve(id)).status).toBe('completed')
    expect(upstream.count('poll')).toBe(1)
  }, 20_000)
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
    await sleep(150)
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
  test.each(['kling', 'veo'] as const)(
    '%s: addresses of files that are not fetched from',
    async kind => {
      for (const url of ADDRESSES) {
        const { client, upstream } = await open(kind, { allow: [] })
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
    },
    30_000,
  )
})
