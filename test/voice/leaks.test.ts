import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import type { Duplex } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import { configOf, KEY, keyOf, REALTIME, type TestServerOptions } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { TIMED, until } from '../builders/time.ts'
import { Client } from '../sockets/client.ts'
import { playing } from './sessions.ts'
import { channelTo, created, type Script, ScriptedUpstream } from './upstream.ts'

let testServer: TestServer | undefined
let upstreams: ScriptedUpstream[] = []

afterEach(async () => {
  await testServer?.server.close(0)
  const faults = testServer?.lines.filter(({ level }) => level === 'error') ?? []
  testServer = undefined
  for (const upstream of upstreams) await upstream.close()
  upstreams = []
  expect(faults).toEqual([])
})

async function open(script: Script, options: TestServerOptions = {}): Promise<ScriptedUpstream> {
  const upstream = await ScriptedUpstream.open(script)
  upstreams.push(upstream)
  testServer = await TestServer.open([channelTo(upstream)], options)
  return upstream
}

const BETA = { 'openai-beta': 'realtime=v1' }
/** Relayed frame by frame, and translated through canonical events. */
const PATHS = [
  ['relayed', {}],
  ['translated', BETA],
] as const

const PATH = '/v1/realtime?model=voice'
const client = (headers: { readonly [name: string]: string } = {}, path = PATH) =>
  Client.open(testServer!.server.address, headers, path)

const refusal = (headers: { readonly [name: string]: string } = {}, path = PATH) =>
  client(headers, path).then(
    () => 101,
    thrown => thrown.status as number,
  )

/** Creates a session on either path, then runs `more`. */
const beginning =
  (more: Script): Script =>
  async connection => {
    connection.send(created({ client_secret: { value: 'ek_of_the_upstream' } }))
    connection.send({ ...created({ client_secret: { value: 'ek_of_the_upstream' } }), type: 'session.updated' })
    await more(connection)
  }

describe.each(PATHS)('%s', (_, headers) => {
  it('nothing that identifies the upstream reaches the caller', async () => {
    let url = ''
    const secret = (): string => `key upstream-key at ${url}/v1/realtime of upstream-voice`
    const error = () => ({ type: 'server_error', code: 'c', message: secret(), param: secret() })
    const upstream = await open(
      beginning(connection => {
        connection.send({ type: 'error', error: error() })
        connection.send({
          type: 'conversation.item.input_audio_transcription.failed',
          ...{ item_id: 'i', content_index: 0, error: error() },
        })
        connection.send({ type: 'response.created', response: { id: 'r' } })
        connection.send({
          type: 'response.done',
          response: { id: 'r', status: 'failed', status_details: { type: 'failed', error: error() }, output: [] },
        })
        connection.socket.close(4000, secret())
      }),
    )
    url = upstream.url
    const caller = await client(headers)
    let reason = ''
    caller.socket.on('close', (_, text) => (reason = text.toString()))
    await until(() => caller.closed !== undefined)
    expect(caller.closed).toBe(4000)
    const seen = JSON.stringify([caller.events, reason])
    expect(caller.events.map(({ type }) => type)).toContain('response.done')
    for (const leak of ['upstream-key', 'upstream-voice', url, 'ek_of_the_upstream', 'sess_up'])
      expect(seen).not.toContain(leak)
  })

  it('closes with the upstream’s code, whichever it is, and leaves nothing', async () => {
    const codes = [...Array.from({ length: 16 }, (_, index) => 1000 + index), 3000, 4000, 4999, 999, 2000, 5000]
    const reason = 'ä'.repeat(61)
    let code = 0
    const upstream = await open(
      beginning(connection => {
        const body = Buffer.concat([Buffer.alloc(2), Buffer.from(reason)])
        body.writeUInt16BE(code)
        // Written as raw bytes, because the library refuses to send some of these codes.
        const raw = connection.socket as unknown as { readonly _socket: { write(bytes: Buffer): void } }
        raw._socket.write(Buffer.concat([Buffer.from([0x88, body.length]), body]))
      }),
    )
    for (code of codes) {
      const caller = await client(headers)
      await until(() => caller.closed !== undefined)
      const isSent = code >= 3000 ? code < 5000 : code >= 1000 && code < 1015 && ![1004, 1005, 1006].includes(code)
      expect([code, caller.closed]).toEqual([code, isSent ? code : caller.closed])
      expect(caller.closed === 1006).toBe(false)
      await until(() => upstream.open === 0)
    }
  })

  it('a burst of updates and more responses than the key may have', async () => {
    const upstream = await open(playing([]), { group: { rpm: 3 } })
    const caller = await client(headers)
    const format = (type: string) => ({ type: 'session.update', session: { audio: { input: { format: { type } } } } })
    // Sent as one chunk, so that every frame is read before the first is handled.
    const { _socket: connection } = caller.socket as unknown as { readonly _socket: Duplex }
    connection.cork()
    for (let count = 0; count < 5; count++) {
      caller.send(format('audio/pcmu'))
      caller.send({ type: 'response.create', event_id: `r${count}` })
      caller.send(format('audio/pcma'))
    }
    caller.send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(1000).toString('base64') })
    caller.send({ type: 'input_audio_buffer.commit' })
    connection.uncork()
    const { received } = upstream.connections[0]!
    await until(() => received.some(({ type }) => type === 'input_audio_buffer.commit'))
    const limited = caller.events.filter(({ error }) => error?.code === 'rate_limit_exceeded')
    expect(limited.map(({ error }) => error.event_id)).toEqual(['r2', 'r3', 'r4'])
    expect(received.filter(({ type }) => type === 'response.create')).toHaveLength(2)
  })

  it('an error about another event does not count the requested response twice', async () => {
    const error = {
      type: 'invalid_request_error',
      code: 'item_not_found',
      message: 'There is none.',
      event_id: 'other',
    }
    const response = { object: 'realtime.response', id: 'resp_1', status: 'in_progress', output: [] }
    const upstream = await open(
      beginning(async connection => {
        await until(() => connection.received.some(({ type }) => type === 'response.create'))
        connection.send({ type: 'error', event_id: 'event_1', error })
        connection.send({ type: 'response.created', event_id: 'event_2', response })
        const done = { ...response, status: 'completed' }
        connection.send({ type: 'response.done', event_id: 'event_3', response: done })
      }),
      { group: { rpm: 2 } },
    )
    const caller = await client(headers)
    caller.send({ type: 'conversation.item.retrieve', item_id: 'none', event_id: 'other' })
    caller.send({ type: 'response.create', event_id: 'mine' })
    await until(() => caller.events.some(({ type }) => type === 'response.done'))
    expect(caller.events.flatMap(event => event.error?.code ?? [])).toEqual(['item_not_found'])
    expect(upstream.connections[0]!.received.some(({ type }) => type === 'response.cancel')).toBe(false)
  })

  it('the type that a frame names last is the one that counts', async () => {
    const upstream = await open(playing([]), { group: { rpm: 1 } })
    const caller = await client(headers)
    caller.send('{"type":"input_audio_buffer.append","type":"session.update","session":{"model":"other"}}')
    caller.send('{"type":"input_audio_buffer.clear","typ\\u0065":"response.create"}')
    caller.send('{"type":"input_audio_buffer.commit"}')
    const { received } = upstream.connections[0]!
    await until(() => received.some(({ type }) => type === 'input_audio_buffer.commit'))
    expect(received.filter(({ session }) => JSON.stringify(session ?? {}).includes('other'))).toEqual([])
    expect(received.some(({ type }) => type === 'response.create')).toBe(false)
  })

  it('a key that is revoked gets no more responses', async () => {
    const upstream = await open(playing([]))
    const caller = await client(headers)
    caller.send({ type: 'response.create' })
    const { received } = upstream.connections[0]!
    const requested = () => received.filter(({ type }) => type === 'response.create').length
    await until(() => requested() === 1)
    testServer!.server.reload({ ...configOf([channelTo(upstream)]), keys: [keyOf('another-key', 'another')] })
    caller.send({ type: 'response.create', event_id: 'late' })
    await until(() => caller.events.some(({ type }) => type === 'error'))
    expect(caller.events.at(-1).error).toMatchObject({ type: 'authentication_error', code: 'invalid_api_key' })
    await until(() => caller.closed !== undefined)
    expect(caller.closed).toBe(1008)
    expect(requested()).toBe(1)
  })

  it.each([
    ['model', { models: ['another'] }, 'model_not_allowed'],
    ['format', { doors: ['chat'] }, 'door_not_allowed'],
  ])('a key that may no longer use the %s gets no more responses', async (_, group, code) => {
    const upstream = await open(playing([]))
    const caller = await client(headers)
    caller.send({ type: 'response.create' })
    const { received } = upstream.connections[0]!
    const requested = () => received.filter(({ type }) => type === 'response.create').length
    await until(() => requested() === 1)
    testServer!.server.reload(configOf([channelTo(upstream)], { group }))
    caller.send({ type: 'response.create', event_id: 'late' })
    await until(() => caller.events.some(({ type }) => type === 'error'))
    expect(caller.events.find(({ type }) => type === 'error').error).toMatchObject({ code })
    caller.send({ type: 'input_audio_buffer.commit' })
    await until(() => received.some(({ type }) => type === 'input_audio_buffer.commit'))
    expect(requested()).toBe(1)
  })

  it('no more sessions than allowed, however many ask at once', async () => {
    const upstream = await open(playing([]), {
      config: {
        realtime: { ...REALTIME, sessions: { key: 20, all: 30 } },
        keys: [keyOf(KEY, 'a'), keyOf('b-key', 'b')],
      },
    })
    const callers: Client[] = []
    const ask = async (key: string): Promise<number> => {
      try {
        callers.push(await client({ ...headers, authorization: `Bearer ${key}` }))
        return 101
      } catch (thrown) {
        return (thrown as { readonly status: number }).status
      }
    }
    const statuses = await Promise.all(Array.from({ length: 200 }, (_, index) => ask(index % 2 === 0 ? KEY : 'b-key')))
    expect(statuses.filter(status => status === 101)).toHaveLength(30)
    expect(new Set(statuses)).toEqual(new Set([101, 429]))
    await until(() => upstream.open === 30)
    for (const caller of callers) caller.socket.terminate()
    await until(() => upstream.open === 0)
    await until(() => testServer!.lines.filter(({ message }) => message === 'session').length === 30)
    expect(await ask(KEY)).toBe(101)
  })
})

describe('an upstream', () => {
  const quick = { connect: 1000, firstByte: 1000, idle: 1000 }
  const at = async (script: Script) => {
    const upstream = await ScriptedUpstream.open(script)
    upstreams.push(upstream)
    testServer = await TestServer.open([{ ...channelTo(upstream), timeout: quick }])
    return upstream
  }

  it.each(PATHS)('%s: that is silent, sends rubbish or closes is answered in HTTP', async (_, headers) => {
    const scripts: Script[] = [
      () => {},
      connection => connection.send('{'),
      connection => connection.socket.send(Buffer.from([0xff, 0xfe])),
      connection => connection.socket.close(1008, 'no'),
      connection => connection.socket.terminate(),
      connection => connection.send({ type: 'response.created', response: { id: 'r' } }),
      connection => {
        for (let count = 0; count < 1000; count++) connection.send({ type: 'response.created', response: { id: 'r' } })
      },
    ]
    for (const script of scripts) {
      const upstream = await at(script)
      expect(await refusal(headers)).toBeGreaterThanOrEqual(502)
      await until(() => upstream.open === 0)
      await testServer!.server.close(0)
    }
  })

  it.each(PATHS)('%s: whose first frame is rubbish has failed, and is not waited for', async (_, headers) => {
    for (const rubbish of ['{', '', 'null', '[]', '"session.created"', '{}', '{"type":7}']) {
      await at(connection => connection.send(rubbish))
      expect([rubbish, await refusal(headers)]).toEqual([rubbish, 502])
      await testServer!.server.close(0)
    }
    await at(() => {})
    expect(await refusal(headers)).toBe(504)
  })

  it('whose refusal does not end is not waited for', async () => {
    const server = createHttpServer()
    server.on('upgrade', (_, socket) => {
      socket.write('HTTP/1.1 403 No\r\ncontent-length: 100000\r\n\r\n{')
      const drip = setInterval(() => socket.write(' '), 50)
      for (const event of ['close', 'error']) socket.on(event, () => clearInterval(drip))
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { readonly port: number }
    testServer = await TestServer.open([{ ...channelTo({ url: `http://127.0.0.1:${port}` }), timeout: quick }])
    const status = await refusal()
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
    expect(status).toBeGreaterThanOrEqual(500)
  })
})

describe('an upstream that hangs', TIMED, () => {
  it('before the session, in the middle of the upgrade, has another tried', async () => {
    const silent = createServer(() => {})
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    const good = await ScriptedUpstream.open(playing([]))
    upstreams.push(good)
    const timeout = { connect: 10_000, firstByte: 300, idle: 300 }
    testServer = await TestServer.open([
      { ...channelTo({ url: `http://127.0.0.1:${port}` }, { priority: 0 }), timeout },
      channelTo(good, { name: 'good', priority: 1 }),
    ])
    const caller = await client(BETA)
    expect(good.open).toBe(1)
    await caller.close()
    silent.close()
  })

  it.each(PATHS)('%s: that takes nothing more is left, and the caller told', async (_, headers) => {
    const upstream = await open(
      beginning(connection => {
        connection.socket.pause()
      }),
      { heartbeat: 100 },
    )
    const caller = await client(headers)
    const append = { type: 'input_audio_buffer.append', audio: Buffer.alloc(100_000).toString('base64') }
    const flood = setInterval(() => {
      if (caller.socket.bufferedAmount < 2 ** 20) caller.send(append)
    }, 1)
    await until(() => caller.closed !== undefined, 10_000)
    clearInterval(flood)
    expect(caller.closed).toBe(1011)
    for (const { socket } of upstream.connections) socket.terminate()
  })
})

describe('client secrets', () => {
  const create = async (key = KEY) => {
    const headers = { authorization: `Bearer ${key}` }
    const body = { session: { type: 'realtime', model: 'voice' } }
    return (await testServer!.ask('/v1/realtime/client_secrets', body, { headers })).json.value as string
  }

  it('open one session, however many ask at once', async () => {
    await open(playing([]))
    const value = await create()
    const statuses = await Promise.all(
      Array.from({ length: 50 }, () => refusal({ authorization: `Bearer ${value}` }, '/v1/realtime')),
    )
    expect(statuses.filter(status => status === 101)).toHaveLength(1)
    expect(statuses.filter(status => status === 401)).toHaveLength(49)
  })

  it('are refused where they are forged, for another model, or used elsewhere', async () => {
    await open(playing([]))
    const value = await create()
    const bearer = { authorization: `Bearer ${value}` }
    expect(await refusal({ authorization: `Bearer ${value.slice(0, -1)}x` })).toBe(401)
    expect(await refusal({ authorization: 'Bearer ek_' })).toBe(401)
    expect(await refusal(bearer, '/v1/realtime?model=other')).toBe(403)
    expect(
      (await testServer!.ask('/v1/chat/completions', { model: 'voice', messages: [] }, { headers: bearer })).status,
    ).toBe(401)
    expect((await testServer!.ask('/v1/realtime/client_secrets', { session: {} }, { headers: bearer })).status).toBe(
      401,
    )
    expect(await refusal(bearer)).toBe(101)
  })

  it.each([
    ['no JSON', 'x', 400],
    ['a list', [], 400],
    ['a session of another type', { session: 7 }, 400],
    ['no model', { session: {} }, 400],
    ['a model of another type', { session: { model: {} } }, 400],
    ['an endless life', { session: { model: 'voice' }, expires_after: { seconds: 1e9 } }, 400],
    ['depth', `{"session":{"model":"voice","tracing":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`, 400],
  ])('%s is refused', async (_, body, status) => {
    await open(playing([]))
    expect((await testServer!.ask('/v1/realtime/client_secrets', body)).status).toBe(status)
  })
})
