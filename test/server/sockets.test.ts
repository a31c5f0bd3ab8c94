import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { ChannelConfig } from '../../src/config/index.ts'
import { channelAt, configOf, KEY, type TestServerOptions } from '../builders/config.ts'
import type { TestServer } from '../builders/gateway.ts'
import { textOf } from '../builders/http.ts'
import { opener } from '../builders/opener.ts'
import { TIMED, until } from '../builders/time.ts'
import type { Script } from '../builders/upstream.ts'
import { UPSTREAMS } from '../clients/upstreams/index.ts'
import { Client } from '../sockets/client.ts'

const { closing, open: openBefore } = opener()

const chat = UPSTREAMS['chat']!
const says =
  (text: string): Script =>
  response =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(chat.frames({ text }).join(''))

const open = (script: Script = says('Well.'), options: TestServerOptions = {}, fields: Partial<ChannelConfig> = {}) =>
  openBefore(script, options, fields)

async function client(testServer: TestServer, headers: { readonly [name: string]: string } = {}, path?: string) {
  const one = await Client.open(testServer.server.address, headers, path)
  closing.push(() => one.socket.terminate())
  return one
}

interface Refused {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
}

const refusal = (testServer: TestServer, headers: { readonly [name: string]: string }, path?: string) =>
  client(testServer, headers, path).then(
    (): Refused => ({ status: 101, headers: {} }),
    (refused: Refused) => refused,
  )

describe('opening a socket', () => {
  it.each([
    ['authorization', { authorization: `Bearer ${KEY}` }, undefined],
    ['x-api-key', { authorization: '', 'x-api-key': KEY }, undefined],
    ['?key=', { authorization: '' }, `/v1/responses?key=${KEY}`],
    ['a base address with a slash', {}, '//v1/responses'],
    ['an offer to compress', { 'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits' }, undefined],
  ])('takes %s', async (_, headers, path) => {
    const { testServer } = await open()
    const events = await (await client(testServer, headers as never, path)).turn({ input: 'Hi' })
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } })
  })

  it.each([
    [{ authorization: 'Bearer nobody' }, '/v1/responses', 401],
    [{ authorization: '' }, '/v1/responses', 401],
    [{}, '/v1/nothing', 404],
    [{}, '/v1/chat/completions', 404],
    [{ version: '8' }, '/v1/responses', 426],
  ])('%j at %s is refused with %i, in HTTP and at once', TIMED, async (headers, path, status) => {
    const { testServer } = await open()
    const before = Date.now()
    const refused = await refusal(testServer, headers as never, path)
    expect(refused.status).toBe(status)
    expect(refused.headers['x-request-id']).toMatch(/^req_/)
    expect(Date.now() - before).toBeLessThan(500)
    if (status === 426) expect(refused.headers['sec-websocket-version']).toBe('13')
  })

  it('leaves alone who offers another protocol to go on with, and who asks for nothing of the kind', async () => {
    const { testServer } = await open()
    const { port } = new URL(testServer.server.address)
    const socket = connect(Number(port), '127.0.0.1')
    closing.push(() => socket.destroy())
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\n\r\n')
    expect(await new Promise(resolve => socket.once('data', data => resolve(String(data))))).toContain('200 OK')
    const plain = await testServer.send('/v1/responses', undefined, { method: 'GET' }).answer
    expect(plain.statusCode).toBe(405)
    await textOf(plain)
  })

  it('does not echo a credential among the subprotocols', async () => {
    const { testServer } = await open()
    const protocols = `openai-insecure-api-key.${KEY}, realtime`
    const one = await client(testServer, { authorization: '', 'sec-websocket-protocol': protocols }).catch(
      fault => fault,
    )
    expect(one.socket?.protocol ?? '').not.toContain(KEY)
  })
})

describe('a turn', () => {
  it('is told in the very events of a stream, a frame each, and nothing else', async () => {
    const { testServer } = await open()
    const body = { model: 'm', input: 'Hi', store: false }
    const text = (await testServer.ask('/v1/responses', { ...body, stream: true })).text
    const streamed = text.split('\n').flatMap(line => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []))
    const told = await (await client(testServer)).turn(body)
    const bare = (events: { readonly type: string }[]) => events.map(({ type }) => type)
    expect(bare(told)).toEqual(bare(streamed))
    expect(told.map(event => event.sequence_number)).toEqual(told.map((_, index) => index))
  })

  it('names its lane in every event, errors too', async () => {
    const { testServer } = await open()
    const one = await client(testServer)
    const events = await one.turn({ input: 'Hi', stream_id: 'a"b' })
    expect(new Set(events.map(event => event.stream_id))).toEqual(new Set(['a"b']))
    expect(await one.turn({ input: 3, stream_id: 'c' })).toMatchObject([{ type: 'error', stream_id: 'c' }])
  })

  it('waits for the one before it; all are answered in their order', async () => {
    let words = 0
    const { testServer, upstream } = await open(response =>
      setTimeout(() => says(`word ${words++}`)(response, {} as never), 30),
    )
    const one = await client(testServer)
    for (const input of ['a', 'b', 'c']) one.send({ type: 'response.create', model: 'm', input, stream_id: input })
    for (const [index, lane] of ['a', 'b', 'c'].entries()) {
      const events = await one.next()
      expect(events.every(event => event.stream_id === lane)).toBe(true)
      expect(JSON.stringify(events.at(-1))).toContain(`word ${index}`)
    }
    expect(upstream.seen.map(({ text }) => JSON.parse(text).messages.at(-1).content)).toEqual(['a', 'b', 'c'])
  })

  it('more of them than may wait are refused, the others answered', async () => {
    const slow: Script = response => setTimeout(() => says('x')(response, {} as never), 300)
    const { testServer } = await open(slow, { sockets: { lifetime: 9e5, idle: 9e5, queue: 2, turns: 9, memory: 9e5 } })
    const one = await client(testServer)
    for (let index = 0; index < 5; index++)
      one.send({ type: 'response.create', model: 'm', input: 'x', stream_id: String(index) })
    const ends = [await one.next(), await one.next(), await one.next(), await one.next(), await one.next()]
    const last = ends.map(events => events.at(-1))
    expect(last.filter(({ type }) => type === 'error')).toMatchObject([
      { status: 429, error: { code: 'too_many_requests' } },
      { status: 429 },
    ])
    expect(last.filter(({ type }) => type === 'response.completed')).toHaveLength(3)
  })

  it('says nothing about how it is told', async () => {
    const { testServer, upstream } = await open()
    const one = await client(testServer, { 'openai-beta': 'responses_websockets=2026-02-06' })
    const words = { stream: false, stream_options: { include_obfuscation: true }, background: false, generate: true }
    expect((await one.turn({ input: 'x', ...words })).at(-1).type).toBe('response.completed')
    expect(JSON.parse(upstream.seen[0]!.text).stream).toBe(true)
  })

  it('that is only to be kept asks nobody', async () => {
    const { testServer, upstream } = await open()
    const events = await (await client(testServer)).turn({ input: 'Remember 42.', generate: false })
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { output: [], status: 'completed' } })
    expect(upstream.seen).toEqual([])
  })

  it('of another key, model or body is refused like anywhere, and the connection stays', async () => {
    const { testServer, upstream } = await open()
    const one = await client(testServer)
    expect(await one.turn({ model: 'nobody', input: 'x' })).toMatchObject([
      { type: 'error', status: 404, error: { code: 'model_not_found', param: 'model' } },
    ])
    expect(await one.turn({ messages: [] })).toMatchObject([{ status: 400, error: { type: 'invalid_request_error' } }])
    upstream.script = response => response.writeHead(429, { 'retry-after': '7' }).end('{"error":{"message":"Slow"}}')
    expect(await one.turn({ input: 'x' })).toMatchObject([
      { status: 429, error: { message: 'Slow', headers: { 'retry-after': '7' } } },
    ])
  })

  it('tells of what was lost where the caller asked for it', async () => {
    const { testServer } = await open()
    const asked = { input: 'x', truncation: 'auto' }
    const quiet = await (await client(testServer)).turn(asked)
    expect(quiet.some(({ type }) => type === 'interlingua.loss')).toBe(false)
    const told = await (await client(testServer, { 'interlingua-on-loss': 'show' })).turn(asked)
    expect(told[0]).toMatchObject({ type: 'interlingua.loss', count: expect.any(Number), losses: expect.any(Array) })
    const refused = await (await client(testServer, { 'interlingua-on-loss': 'refuse' })).turn(asked)
    expect(refused).toMatchObject([{ type: 'error', status: 422 }])
  })

  it('is written to the log like any request', async () => {
    const { testServer } = await open()
    await (await client(testServer)).turn({ input: 'x' })
    await until(() => testServer.lines.some(({ message }) => message === 'request'))
    expect(testServer.lines.at(-1)!.fields).toMatchObject({ key: 'dev', model: 'm', status: 200, input_tokens: 21 })
  })
})

const DEEP = 'one that is nested too deeply'

describe('what a connection remembers', () => {
  const limits = { lifetime: 9e5, idle: 9e5, queue: 9, turns: 2, memory: 9e5 }
  const turn = (one: Client, body = {}) => one.turn({ input: 'x', store: false, ...body })
  const idOf = async (one: Client) => (await turn(one)).at(-1).response.id as string

  it('is its latest turns, as many as configured', async () => {
    const { testServer } = await open(says('x'), { sockets: limits })
    const one = await client(testServer)
    const [first, , third] = [await idOf(one), await idOf(one), await idOf(one)]
    expect((await turn(one, { previous_response_id: third })).at(-1).type).toBe('response.completed')
    expect(await turn(one, { previous_response_id: first })).toMatchObject([
      { type: 'error', error: { code: 'previous_response_not_found', param: 'previous_response_id' } },
    ])
  })

  it('is no more than so many characters', async () => {
    const { testServer } = await open(says('x'), { sockets: { ...limits, turns: 99, memory: 20_000 } })
    const one = await client(testServer)
    const small = await idOf(one)
    await turn(one, { input: 'y'.repeat(18_000) })
    expect((await turn(one, { previous_response_id: small })).at(-1).error.code).toBe('previous_response_not_found')
  })

  it('is no other connection’s, even of the same key', async () => {
    const { testServer, upstream } = await open()
    const [one, other] = [await client(testServer), await client(testServer)]
    const id = await idOf(one)
    upstream.seen.length = 0
    expect((await turn(other, { previous_response_id: id })).at(-1).error.code).toBe('previous_response_not_found')
    expect(upstream.seen).toEqual([])
    expect((await turn(one, { previous_response_id: id })).at(-1).type).toBe('response.completed')
  })

  it('is forgotten where a turn that went on from it failed', async () => {
    const { testServer, upstream } = await open()
    const one = await client(testServer)
    const id = await idOf(one)
    upstream.script = response => response.writeHead(500).end('{"error":{"message":"Broken"}}')
    expect((await turn(one, { previous_response_id: id })).at(-1)).toMatchObject({ type: 'error', status: 502 })
    upstream.script = says('x')
    expect((await turn(one, { previous_response_id: id })).at(-1).error.code).toBe('previous_response_not_found')
  })
})

it('trap 98: a request too long is a response that failed, where Codex looks for it', async () => {
  const message = 'prompt is too long: 9000 tokens > 8192 maximum'
  const { testServer, upstream } = await open(response =>
    response.writeHead(400).end(JSON.stringify({ error: { message } })),
  )
  const one = await client(testServer)
  const events = await one.turn({ input: 'Hi' })
  expect(events.map(({ type }: { type: string }) => type)).toEqual([
    'response.created',
    'response.in_progress',
    'response.failed',
  ])
  expect(events.at(-1)).toMatchObject({ response: { status: 'failed', error: { code: 'context_length_exceeded' } } })
  upstream.script = says('Well.')
  expect((await one.turn({ input: 'Hi' })).at(-1)).toMatchObject({ type: 'response.completed' })
})

describe('frames that are no turn', () => {
  it.each([
    ['nonsense', 'invalid_json'],
    ['[1]', 'invalid_json'],
    ['{"type":"response.nonsense"}', 'unknown_event'],
    ['{}', 'unknown_event'],
    ['{"type":"response.create","stream_id":3}', 'invalid_type'],
    ['{"type":"response.create","generate":"no"}', 'invalid_type'],
    ['{"type":"response.create","background":true,"model":"m"}', 'unsupported_parameter'],
    [DEEP, undefined],
  ])('%s is answered, and the connection stays', async (frame, code) => {
    const { testServer } = await open()
    const one = await client(testServer)
    one.send(frame === DEEP ? `{"type":"response.create","input":${'['.repeat(9e4)}${']'.repeat(9e4)}}` : frame)
    const [event] = await one.next()
    expect(event).toMatchObject({ type: 'error', status: 400, error: { message: expect.any(String) } })
    if (code !== undefined) expect(event.error.code).toBe(code)
    expect((await one.turn({ input: 'x' })).at(-1).type).toBe('response.completed')
  })

  it('a binary one is answered, too', async () => {
    const { testServer } = await open()
    const one = await client(testServer)
    one.send(Buffer.from('{"type":"response.create"}'))
    expect(await one.next()).toMatchObject([{ type: 'error', error: { code: 'invalid_frame' } }])
    expect((await one.turn({ input: 'x' })).at(-1).type).toBe('response.completed')
  })

  it('one that is too large ends the connection, and no other', async () => {
    const { testServer } = await open(says('x'), { body: 2000 })
    const [one, other] = [await client(testServer), await client(testServer)]
    one.send({ type: 'response.create', model: 'm', input: 'x'.repeat(3000) })
    await until(() => one.closed !== undefined)
    expect(one.closed).toBe(1009)
    expect((await other.turn({ input: 'x' })).at(-1).type).toBe('response.completed')
  })

  it('one that only says that an answer was taken in has none', async () => {
    const { testServer } = await open()
    const one = await client(testServer)
    one.send({ type: 'response.processed', response_id: 'resp_1' })
    expect((await one.turn({ input: 'x' }))[0]).toMatchObject({ type: 'response.created' })
  })

  it('nothing is steered', async () => {
    const { testServer } = await open()
    const one = await client(testServer)
    const steer = { previous_response_id: 'resp_1', input: 'Stop.' }
    one.send({ type: 'response.steer', ...steer, stream_id: 's' })
    one.send({ type: 'response.steer' })
    expect(await one.next()).toMatchObject([
      { type: 'response.steer.failed', steer, stream_id: 's', error: { code: 'steering_not_supported' } },
    ])
    expect(await one.next()).toMatchObject([{ error: { code: 'invalid_input', type: 'invalid_request_error' } }])
  })
})

describe('the end', () => {
  const endless: Script = response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(chat.frames({ text: 'Well, I think so.' }).slice(0, 2).join(''))
  }

  it.each(['close', 'terminate'] as const)('a client that goes (%s) stops its upstream at once', TIMED, async how => {
    const { testServer, upstream } = await open(endless)
    const one = await client(testServer)
    one.send({ type: 'response.create', model: 'm', input: 'x' })
    await until(() => one.events.some(({ type }) => type === 'response.output_text.delta'))
    const before = Date.now()
    one.socket[how]()
    await until(() => upstream.seen[0]!.brokenAt !== undefined)
    expect(upstream.seen[0]!.brokenAt! - before).toBeLessThan(100)
    await until(() => testServer.lines.some(({ message }) => message === 'request'))
    expect(testServer.lines.at(-1)!.fields['status']).toBe(499)
  })

  it('of the server lets the turn that is answered have its end', async () => {
    let answer = (): void => {}
    const { testServer, upstream } = await open(response => {
      answer = () => says('x')(response, {} as never)
    })
    const [busy, idle] = [await client(testServer), await client(testServer)]
    busy.send({ type: 'response.create', model: 'm', input: 'x' })
    busy.send({ type: 'response.create', model: 'm', input: 'never' })
    await until(() => upstream.seen.length === 1)
    const closed = testServer.server.close(20_000)
    answer()
    expect((await busy.next()).at(-1).type).toBe('response.completed')
    await closed
    await until(() => busy.closed !== undefined && idle.closed !== undefined)
    expect([busy.closed, idle.closed]).toEqual([1001, 1001])
    expect(busy.events.filter(({ type }) => type === 'response.completed')).toHaveLength(1)
  })

  it('of the server comes after its grace, whatever goes on', TIMED, async () => {
    const { testServer } = await open(endless)
    const one = await client(testServer)
    one.send({ type: 'response.create', model: 'm', input: 'x' })
    await until(() => one.events.length > 0)
    const before = Date.now()
    await testServer.server.close(50)
    expect(Date.now() - before).toBeLessThan(1500)
    await until(() => one.closed !== undefined)
  })

  it('comes after an hour, or what is configured for it, and says so', async () => {
    const { testServer } = await open(says('x'), {
      sockets: { lifetime: 1500, idle: 9e5, queue: 9, turns: 9, memory: 9e5 },
    })
    const one = await client(testServer)
    expect((await one.turn({ input: 'x' })).at(-1).type).toBe('response.completed')
    expect(await one.next()).toMatchObject([{ error: { code: 'websocket_connection_limit_reached' } }])
    await until(() => one.closed !== undefined)
    expect(one.closed).toBe(1000)
  })

  it('comes to who says nothing for long', async () => {
    const { testServer } = await open(says('x'), {
      heartbeat: 20,
      sockets: { lifetime: 9e5, idle: 60, queue: 9, turns: 9, memory: 9e5 },
    })
    const one = await client(testServer)
    await until(() => one.closed !== undefined)
    expect(one.closed).toBe(1000)
  })

  it('comes to who answers no ping', TIMED, async () => {
    const { testServer } = await open(says('x'), { heartbeat: 30 })
    const [dead, live] = [await client(testServer), await client(testServer)]
    ;(dead.socket as unknown as { pong: () => void }).pong = () => {}
    await until(() => dead.closed !== undefined)
    expect(live.closed).toBeUndefined()
  })

  it('does not come to who answers pings late', TIMED, async () => {
    const { testServer } = await open(says('x'), { heartbeat: 30 })
    const late = await client(testServer)
    late.socket.pause()
    await new Promise(resolve => setTimeout(resolve, 120))
    late.socket.resume()
    expect((await late.turn({ input: 'x' })).at(-1).type).toBe('response.completed')
  })

  it('a reload keeps every connection', async () => {
    const { testServer, upstream } = await open()
    const one = await client(testServer)
    await one.turn({ input: 'x' })
    testServer.server.reload(configOf([channelAt(upstream.address)], { body: 5000 }))
    expect((await one.turn({ input: 'x' })).at(-1).type).toBe('response.completed')
  })
})

describe('a slow reader', () => {
  it('holds up its upstream, and gets everything in the end', async () => {
    const word = 'x'.repeat(8000)
    const pieces = 2500
    let written = 0
    const flood: Script = response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const [head, ...rest] = chat.frames({ text: 'ab' })
      response.write(head)
      const one = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"${word}"},"finish_reason":null}]}\n\n`
      const pour = (): void => {
        while (written < pieces) {
          written++
          if (!response.write(one)) {
            response.once('drain', pour)
            return
          }
        }
        response.end(rest.slice(-3).join(''))
      }
      pour()
    }
    const { testServer } = await open(flood)
    const client_ = await client(testServer)
    client_.socket.pause()
    client_.send({ type: 'response.create', model: 'm', input: 'x' })
    await new Promise(resolve => setTimeout(resolve, 600))
    const held = written
    expect(held).toBeLessThan(pieces)
    client_.socket.resume()
    const end = (await client_.next()).at(-1)
    expect(end.type).toBe('response.completed')
    expect(end.response.output[0].content[0].text.length).toBeGreaterThanOrEqual(word.length * pieces)
  })

  it('who reads no answers to frames is not read either, and gets all of them in the end', TIMED, async () => {
    const { testServer } = await open()
    const one = await client(testServer)
    one.socket.pause()
    const steer = { type: 'response.steer', previous_response_id: 'resp_1', input: 'x'.repeat(2 ** 20) }
    for (let count = 0; count < 64; count++) one.send(steer)
    await new Promise(resolve => setTimeout(resolve, 1000))
    expect(one.socket.bufferedAmount).toBeGreaterThan(32 * 2 ** 20)
    one.socket.resume()
    await until(() => one.events.length === 64)
    one.send({ type: 'response.create', model: 'm', input: 'x' })
    await until(() => one.events.at(-1).type === 'response.completed')
  })
})
