import { connect } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import type { ModelFacts } from '../../src/config/index.ts'
import { openServer } from '../../src/server/index.ts'
import { ASK, events, HEAD, hello, STREAM, TAIL, words } from '../builders/chat.ts'
import { channelAt, configOf, KEY, type TestServerOptions } from '../builders/config.ts'
import type { TestServer } from '../builders/gateway.ts'
import { GET, textOf, VERSION } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { plainReader, speakPlain } from '../builders/plain-format.ts'
import { TIMED, until } from '../builders/time.ts'
import type { Script } from '../builders/upstream.ts'

speakPlain('messages', 'contents', 'responses')

const { closing, open: openBefore, openUpstream } = opener()
const open = (script: Script = hello, options: TestServerOptions = {}, models = ['m']) =>
  openBefore(script, options, { models: { named: new Map(models.map(model => [model, model])), patterns: [] } })

const PLAIN = { model: 'm', say: 'hello' }
describe('the messages endpoint', () => {
  test.each([
    [{ 'anthropic-version': '2023-06-01' }, 200],
    [{ 'anthropic-version': '2026-10-21' }, 200],
    [{ 'msgfmt-version': '2023-06-01' }, 200],
    [{ 'anthropic-version': '2024-01-01' }, 200],
    [{ 'anthropic-version': '2031-12-31' }, 200],
    [{ 'anthropic-version': '2023-13-01' }, 400],
    [{ 'anthropic-version': '2023-02-30' }, 400],
    [{ 'anthropic-version': '2023-06-01, 2023-06-01' }, 400],
    [{ 'anthropic-version': '' }, 400],
    [{ 'msgfmt-version': 'x' }, 400],
    [{}, 400],
  ])('answers version %j with %i', async (headers, status) => {
    const { testServer } = await open()
    const answer = await testServer.ask('/v1/messages?beta=true', PLAIN, { headers: headers as never })
    expect(answer.status).toBe(status)
    expect(answer.headers['request-id']).toBe(answer.headers['x-request-id'])
    if (status === 400) expect(answer.json).toEqual({ oops: expect.stringContaining('version'), id: expect.anything() })
  })
})

describe('the contents endpoints', () => {
  test.each([
    '/v1beta/models/m:generateContent',
    '/v1/models/m:generateContent',
    '/v1beta/models/m%3AgenerateContent?alt=json',
    '//v1beta/models/m:generateContent',
    `/v1beta/models/m:generateContent?key=${KEY}`,
  ])('%s', async path => {
    const { testServer } = await open()
    const headers: Record<string, string> = path.includes('key=') ? { authorization: '' } : {}
    expect((await testServer.ask(path, { say: 'hello' }, { headers })).json).toMatchObject({ text: 'Hello.' })
  })

  test('take model ids with slashes, plain and encoded', async () => {
    const { testServer, upstream } = await open(hello, {}, ['org/model:tag'])
    for (const id of ['org/model:tag', 'org%2Fmodel:tag'])
      expect(
        (await testServer.ask(`/v1beta/models/${id}:generateContent`, { say: 'x', model: 'org/model:tag' })).status,
      ).toBe(200)
    expect(JSON.parse(upstream.seen[0]!.text).model).toBe('org/model:tag')
  })

  test('stream as events with alt=sse, else as one array', async () => {
    const { testServer } = await open()
    const sse = await testServer.ask('/v1beta/models/m:streamGenerateContent?alt=sse', { say: 'x' })
    expect(sse.headers['content-type']).toContain('text/event-stream')
    const array = await testServer.ask('/v1beta/models/m:streamGenerateContent', { say: 'x' })
    expect(array.headers['content-type']).toContain('application/json')
    expect(array.json.map(({ append }: { append: string }) => append)).toEqual(['Hel', 'lo.', undefined])
    const wrong = await testServer.ask('/v1beta/models/nobody:streamGenerateContent', { say: 'x' })
    expect(wrong.status).toBe(404)
    expect(wrong.json).toEqual([{ oops: expect.any(String), id: expect.any(String) }])
  })

  test.each([
    ['/v1beta/models/a/b:streamGenerateContent', '/v1beta/models/a/b:streamGenerateContent', { alt: 'sse' }],
    ['/v1/models/a%2Fb:streamGenerateContent?x=1', '/v1beta/models/a%2Fb:streamGenerateContent', { alt: 'sse' }],
    [`/v1/tunedModels/m:generateContent?alt=json&key=${KEY}`, '/v1beta/tunedModels/m:generateContent', {}],
  ])('read %s as the format has it, without framing and credential', async (path, below, query) => {
    const reading = vi.spyOn(plainReader, 'request')
    const { testServer } = await open()
    await testServer.ask(path, { say: 'x' })
    expect(reading.mock.lastCall![0]).toMatchObject({ path: below, query })
    expect(Object.keys(reading.mock.lastCall![0].query)).toHaveLength(Object.keys(query).length)
    reading.mockRestore()
  })

  test('know only their own methods', async () => {
    const { testServer } = await open()
    for (const path of [
      '/v1beta/models/m:countCats',
      '/v1beta/models/m',
      '/v1/models/m:countCats',
      '/v1beta/models/%zz:x',
    ])
      expect([400, 404]).toContain((await testServer.ask(path, { say: 'x' })).status)
  })
})

describe('the body of another endpoint', () => {
  test.each([
    ['/v1/chat/completions', { contents: [] }, ':generateContent'],
    ['/v1/chat/completions', { input: 'x' }, '/v1/responses'],
    ['/v1/responses', { messages: [] }, '/v1/chat/completions or POST /v1/messages'],
    ['/v1/messages', { input: 'x' }, '/v1/responses'],
    ['/v1beta/models/m:generateContent', { messages: [] }, '/v1/chat/completions'],
  ])('at %s, %j, is told that it belongs to %s', async (path, body, door) => {
    const { testServer } = await open()
    const answer = await testServer.ask(path, { model: 'm', ...body }, { headers: VERSION })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain(door)
  })

  test('trap 73: is no other than it looks by its own field', async () => {
    const { testServer } = await open()
    expect((await testServer.ask('/v1/chat/completions', { ...ASK, input: 'x' })).status).toBe(200)
  })
})

describe('paths and methods', () => {
  test('an unknown path is 404 in the shape it suggests', async () => {
    const { testServer } = await open()
    expect(await testServer.ask('/v1/nothing', {})).toMatchObject({ status: 404, json: { error: {} } })
    expect(await testServer.ask('/v1/messages/nothing', {})).toMatchObject({
      status: 404,
      json: { oops: expect.anything() },
    })
    expect(await testServer.ask('/v1beta/nothing', {})).toMatchObject({
      status: 404,
      json: { oops: expect.anything() },
    })
  })

  test('a known path with another method is 405', async () => {
    const { testServer } = await open()
    expect((await testServer.ask('/v1/chat/completions', undefined, GET)).status).toBe(405)
    expect((await testServer.ask('/v1/models', ASK)).status).toBe(405)
    expect((await testServer.ask('/v1/messages', undefined, { method: 'DELETE' })).status).toBe(405)
  })

  test.each([
    ['GET', '/v1/responses/compact', 'POST'],
    ['GET', '/v1/responses/input_tokens', 'POST'],
    ['DELETE', '/v1/messages/count_tokens', 'POST'],
    ['GET', '/v1beta/models/m:generateContent', 'POST'],
    ['PUT', '/v1/models/a/b:countTokens', 'POST'],
    ['GET', '/v1beta/tunedModels/m:streamGenerateContent', 'POST'],
    ['POST', '/v1/models', 'GET, HEAD'],
    ['PUT', '/v1/responses/resp_1', 'GET, HEAD, DELETE'],
    ['PUT', '/v1/conversations/conv_1', 'GET, HEAD, POST, DELETE'],
  ])('%s %s is told what the path takes', async (method, path, allow) => {
    const { testServer } = await open()
    const { status, headers, json } = await testServer.ask(path, undefined, { method })
    expect(status).toBe(405)
    expect(headers['allow']).toBe(allow)
    expect(JSON.stringify(json)).toContain(`does not support ${method}`)
  })

  test.each(['/v1/responses', '/v1/realtime?model=m'])(
    'a handshake for a WebSocket at %s that a proxy sends on without its upgrade is told so',
    async path => {
      const { testServer } = await open()
      const handshake = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' }
      const { headers, json } = await testServer.ask(path, undefined, { ...GET, headers: handshake })
      expect(headers).toMatchObject({ upgrade: 'websocket', connection: 'upgrade' })
      expect(JSON.stringify(json)).toContain('a proxy in between must pass')
    },
  )

  test('a model whose name looks like one of a method is still found or not', async () => {
    const { testServer } = await open()
    expect((await testServer.ask('/v1/models/llama:latest', undefined, GET)).status).toBe(404)
  })

  test('a socket is refused where there is none, so that clients fall back to HTTP', async () => {
    const { testServer } = await open()
    const upgrade = 'GET /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n'
    const text = await heard(testServer, upgrade, all => all !== '')
    expect(text).toContain(' 404 ')
  })

  /** Returns everything that a bare connection receives until it is closed, or until `enough`. */
  async function heard(
    testServer: TestServer,
    text: string,
    enough: (heard: string) => boolean = () => false,
  ): Promise<string> {
    const socket = connect(Number(new URL(testServer.server.address).port), '127.0.0.1')
    let all = ''
    await new Promise<unknown>(resolve => {
      socket.once('close', resolve)
      socket.on('data', data => {
        all += data
        if (enough(all)) resolve(undefined)
      })
      socket.write(text)
    })
    socket.destroy()
    return all
  }

  const streaming = (version: string): string => {
    const body = JSON.stringify({ ...ASK, stream: true })
    const head = `POST /v1/chat/completions HTTP/${version}\r\nhost: x\r\nauthorization: Bearer ${KEY}`
    return `${head}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  }

  test('a stream comes in chunks, and the connection is good for the next', async () => {
    const { testServer } = await open(
      response => void events(response).end(`${HEAD}${words('Grüße, ', '世界 🌍')}${TAIL}`),
    )
    const twice = streaming('1.1') + streaming('1.1')
    const [, first, second] = (await heard(testServer, twice, all => all.split('\r\n0\r\n\r\n').length === 3)).split(
      'HTTP/1.1 ',
    )
    for (const answer of [first!, second!]) {
      const [head, ...chunks] = answer.split('\r\n')
      expect(head).toBe('200 OK')
      const body = chunks.slice(chunks.indexOf('') + 1)
      expect(body.splice(-3)).toEqual(['0', '', ''])
      const texts = body.filter((_, index) => index % 2 === 1)
      expect(body.filter((_, index) => index % 2 === 0)).toEqual(
        texts.map(text => Buffer.byteLength(text).toString(16)),
      )
      expect(texts.join('')).toContain('世界 🌍')
    }
  })

  test('a caller of HTTP/1.0 gets the stream without chunks, to the end of the connection', async () => {
    const { testServer } = await open()
    const [head, body] = (await heard(testServer, streaming('1.0'))).split('\r\n\r\n')
    expect(head).not.toMatch(/transfer-encoding/i)
    expect(body).toMatch(/^data: /)
    expect(body!.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  test('nothing tells what the gateway is made of', async () => {
    const { testServer } = await open()
    const { headers } = await testServer.ask('/v1/chat/completions', ASK)
    expect(headers['x-powered-by']).toBeUndefined()
    expect(headers['etag']).toBeUndefined()
  })

  test('health and readiness', async () => {
    const { testServer } = await open()
    expect((await testServer.ask('/healthz', undefined, { ...GET, headers: { authorization: '' } })).status).toBe(200)
    expect((await testServer.ask('/readyz', undefined, GET)).status).toBe(200)
    testServer.server.reload(configOf([]))
    expect((await testServer.ask('/readyz', undefined, GET)).status).toBe(503)
  })
})

describe('models', () => {
  const shapes = async (testServer: TestServer, path: string) => ({
    chat: (await testServer.ask(path, undefined, GET)).json,
    messages: (await testServer.ask(path, undefined, { ...GET, headers: VERSION })).json,
    contents: (await testServer.ask(path, undefined, { ...GET, headers: { 'x-goog-api-key': KEY } })).json,
  })

  test('are listed in the words of whoever asks', async () => {
    const { testServer } = await open(hello, {}, ['b', 'a/x'])
    expect(await shapes(testServer, '/v1/models')).toEqual({
      chat: {
        object: 'list',
        data: ['a/x', 'b'].map(id => ({ id, object: 'model', created: expect.any(Number), owned_by: 'interlingua' })),
      },
      messages: {
        data: [expect.objectContaining({ id: 'a/x', type: 'model', display_name: 'a/x' }), expect.anything()],
        has_more: false,
        first_id: 'a/x',
        last_id: 'b',
      },
      contents: { models: [expect.objectContaining({ name: 'models/a/x' }), expect.anything()] },
    })
    expect((await testServer.ask('/v1beta/models', undefined, GET)).json.models).toHaveLength(2)
    expect(
      (await testServer.ask(`/v1/models?key=${KEY}`, undefined, { ...GET, headers: { authorization: '' } })).json
        .models,
    ).toHaveLength(2)
  })

  test('are described one by one, ids with slashes too', async () => {
    const { testServer } = await open(hello, {}, ['a/x'])
    const { chat, messages, contents } = await shapes(testServer, '/v1/models/a/x')
    expect([chat.id, messages.id, contents.name]).toEqual(['a/x', 'a/x', 'models/a/x'])
    expect((await testServer.ask('/v1beta/models/a%2Fx', undefined, GET)).json.name).toBe('models/a/x')
    expect((await testServer.ask('/v1/models/nobody', undefined, GET)).status).toBe(404)
    expect((await testServer.ask('/v1/models/%zz', undefined, GET)).status).toBe(400)
  })

  test('are those of the key, with the facts the operator gave', async () => {
    const upstream = await openUpstream(hello)
    const models = {
      named: new Map([
        ['m', 'm'],
        ['other', 'other'],
      ]),
      patterns: [],
    }
    const facts: ModelFacts = { id: 'm', name: 'Model M', context: 1000, maxOutput: 100, input: [], output: [] }
    const config = configOf([channelAt(upstream.address, { models })], { group: { models: ['m*'] } })
    const log = { info() {}, warn() {}, error() {} }
    const server = await openServer({ config: { ...config, models: new Map([['m', facts]]) }, log })
    closing.push(() => server.close(0))
    const headers = { authorization: `Bearer ${KEY}`, ...VERSION }
    const { data } = (await (await fetch(`${server.address}/v1/models`, { headers })).json()) as { data: object[] }
    expect(data).toEqual([
      expect.objectContaining({ id: 'm', display_name: 'Model M', max_input_tokens: 1000, max_tokens: 100 }),
    ])
  })

  test("are nobody else's business", async () => {
    const { testServer } = await open()
    expect((await testServer.ask('/v1/models', undefined, { ...GET, headers: { authorization: '' } })).status).toBe(401)
  })
})

describe('the end', () => {
  const slow: Script = response => {
    events(response).write(`${HEAD}${words('Hel')}`)
    setTimeout(() => response.end(`${words('lo.')}${TAIL}`), 200)
  }

  test('waits for running answers and takes no new ones', async () => {
    const { testServer } = await open(slow)
    const answer = await testServer.send('/v1/chat/completions', STREAM).answer
    const reading = textOf(answer)
    const closed = testServer.server.close()
    await expect(testServer.ask('/v1/chat/completions', ASK)).rejects.toThrow()
    expect(await reading).toContain('[DONE]')
    await closed
  })

  test('does not wait for a connection that is kept', TIMED, async () => {
    const { testServer } = await open(slow)
    const ask = (body: object) =>
      fetch(`${testServer.server.address}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}` },
        body: JSON.stringify(body),
      })
    const reading = ask(STREAM).then(answer => answer.text())
    await new Promise(resolve => setTimeout(resolve, 100))
    const at = Date.now()
    await testServer.server.close(5000)
    expect(Date.now() - at).toBeLessThan(1500)
    expect(await reading).toContain('[DONE]')
  })

  test('breaks off what outlasts the grace time', async () => {
    const { testServer, upstream } = await open(response => void events(response).write(`${HEAD}${words('Hel')}`))
    const answer = await testServer.send('/v1/chat/completions', STREAM).answer
    const reading = textOf(answer)
    await testServer.server.close(50)
    expect(await reading).not.toContain('[DONE]')
    await until(() => upstream.seen[0]!.brokenAt !== undefined)
  })

  test('a reload keeps what runs, and turns new requests to the new channels', async () => {
    const { testServer } = await open(slow)
    const reading = textOf(await testServer.send('/v1/chat/completions', STREAM).answer)
    const other = await openUpstream(hello)
    testServer.server.reload(configOf([channelAt(other.address, { name: 'another' })]))
    expect((await testServer.ask('/v1/chat/completions', ASK)).status).toBe(200)
    expect(other.seen).toHaveLength(1)
    expect(await reading).toContain('[DONE]')
  })

  test('an address that is taken is an error', async () => {
    const { testServer } = await open()
    const config = configOf([])
    const port = Number(new URL(testServer.server.address).port)
    const log = { info() {}, warn() {}, error() {} }
    await expect(openServer({ config: { ...config, server: { ...config.server, port } }, log })).rejects.toThrow()
  })
})
