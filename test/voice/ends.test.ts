import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { KEY, REALTIME, type TestServerOptions } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { TIMED, until } from '../builders/time.ts'
import { Client } from '../sockets/client.ts'
import { CLIENT, playing, SPOKEN_TURN } from './sessions.ts'
import { channelTo, created, type Script, ScriptedUpstream } from './upstream.ts'

let testServer: TestServer | undefined
let upstreams: ScriptedUpstream[] = []

afterEach(async () => {
  await testServer?.server.close(0)
  testServer = undefined
  for (const upstream of upstreams) await upstream.close()
  upstreams = []
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

const client = (headers: { readonly [name: string]: string } = {}) =>
  Client.open(testServer!.server.address, headers, '/v1/realtime?model=voice')

const sessions = () => testServer!.lines.filter(({ message }) => message === 'session')

describe.each(PATHS)('%s', TIMED, (_, headers) => {
  it('a whole turn, with its usage', async () => {
    await open(playing(SPOKEN_TURN))
    const caller = await client(headers)
    for (const event of CLIENT) caller.send(event)
    await until(() => caller.events.some(({ type }) => type === 'rate_limits.updated'))
    const done = caller.events.find(({ type }) => type === 'response.done')
    expect(done.response.output[0].content[0].transcript).toBe('Hello there.')
    await caller.close()
    await until(() => sessions().length === 1)
    expect(sessions()[0]!.fields).toMatchObject({ input_tokens: 10, output_tokens: 20, responses: 1 })
  })

  it('no connection is left wherever the upstream breaks off', async () => {
    for (let at = 0; at < SPOKEN_TURN.length; at++) {
      const upstream = await open(playing(SPOKEN_TURN, { at, act: socket => socket.terminate() }))
      // Before the session exists, the caller gets an HTTP error instead.
      const caller = await client(headers).catch((thrown: { readonly status: number }) => thrown)
      if (caller instanceof Client) {
        for (const event of CLIENT) caller.send(event)
        await until(() => caller.closed !== undefined)
        expect(caller.closed).toBe(1011)
      } else expect([at, caller.status]).toEqual([0, 502])
      await until(() => upstream.open === 0 && sessions().length === 1)
      await testServer!.server.close(0)
      await upstream.close()
    }
  })

  it('no connection is left wherever the caller breaks off', async () => {
    const upstream = await open(playing(SPOKEN_TURN))
    for (let count = 0; count < SPOKEN_TURN.length; count++) {
      const caller = await client(headers)
      for (const event of CLIENT) caller.send(event)
      await until(() => caller.events.length >= Math.min(count, 12))
      caller.socket.terminate()
      await until(() => upstream.open === 0)
    }
    await until(() => sessions().length === SPOKEN_TURN.length)
  })

  it('a gateway that is stopped lets a response end, then says why', async () => {
    let go = (): void => {}
    const wait = new Promise<void>(resolve => (go = resolve))
    const upstream = await open(async connection => {
      connection.send(created())
      await connection.until(1)
      if (connection.received[0]!['type'] === 'session.update') {
        connection.send({ ...created(), type: 'session.updated' })
        await connection.until(2)
      }
      connection.send({ type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } })
      await wait
      connection.send({ type: 'response.done', response: { id: 'resp_1', status: 'completed', output: [] } })
    })
    const caller = await client(headers)
    caller.send({ type: 'response.create' })
    await until(() => caller.events.some(({ type }) => type === 'response.created'))
    const closed = testServer!.server.close(5000)
    await new Promise(resolve => setTimeout(resolve, 50))
    expect(caller.closed).toBeUndefined()
    go()
    await until(() => caller.closed !== undefined)
    await closed
    expect(caller.closed).toBe(1001)
    expect(caller.events.map(({ type }) => type).slice(-2)).toEqual(['response.done', 'error'])
    expect(upstream.open).toBe(0)
  })

  it('a response that outlasts the grace time is ended with an error', async () => {
    const upstream = await open(playing([null, { type: 'response.created', response: { id: 'resp_1' } }]))
    const caller = await client(headers)
    caller.send({ type: 'response.create' })
    await until(() => caller.events.some(({ type }) => type === 'response.created'))
    await testServer!.server.close(100)
    await until(() => caller.closed !== undefined)
    expect(caller.closed).toBe(1001)
    expect(caller.events.at(-1)).toMatchObject({ type: 'error', error: { code: 'server_shutdown' } })
    expect(upstream.open).toBe(0)
  })

  it('ends sessions that are idle or too long', async () => {
    await open(playing([]), { config: { realtime: { ...REALTIME, idle: 60 } }, heartbeat: 30 })
    const idle = await client(headers)
    await until(() => idle.closed !== undefined)
    expect([idle.closed, idle.events.at(-1).error.code]).toEqual([1000, 'session_idle'])
    await testServer!.server.close(0)
    await open(playing([]), { config: { realtime: { ...REALTIME, lifetime: 60 } } })
    const long = await client(headers)
    await until(() => long.closed !== undefined)
    expect([long.closed, long.events.at(-1).error.code]).toEqual([1001, 'session_expired'])
  })

  it('a caller that reads nothing is closed with 1013, and its upstream is held up before', async () => {
    let sent = 0
    const flood: Script = async connection => {
      connection.send(created())
      if (headers === BETA) {
        await connection.until(1)
        connection.send({ ...created(), type: 'session.updated' })
      }
      connection.send({ type: 'response.created', response: { id: 'resp_1' } })
      connection.send({
        type: 'response.output_item.added',
        response_id: 'resp_1',
        output_index: 0,
        item: { id: 'i', type: 'message', role: 'assistant', content: [] },
      })
      const delta = Buffer.alloc(30_000).toString('base64')
      const event = {
        type: 'response.output_audio.delta',
        response_id: 'resp_1',
        item_id: 'i',
        output_index: 0,
        content_index: 0,
        delta,
      }
      while (connection.socket.readyState === 1 && sent < 5000) {
        if (connection.socket.bufferedAmount < 2 ** 20) {
          connection.send(event)
          sent++
        } else await new Promise(resolve => setTimeout(resolve, 5))
      }
    }
    const upstream = await open(flood, { heartbeat: 200 })
    const caller = await client(headers)
    caller.socket.pause()
    await until(() => upstream.open === 0)
    expect(sent).toBeLessThan(2000)
    caller.socket.resume()
    await until(() => caller.closed !== undefined)
    expect(sessions().length).toBe(1)
  })

  it('takes whatever a caller sends', async () => {
    const upstream = await open(playing([]))
    const bad: (string | Buffer)[] = [
      ...['', 'null', '[]', '"a"', '{', '{}', '{"type":1}', '{"type":"__proto__"}', '{"type":"constructor"}'],
      ...(headers === BETA
        ? [
            '{"type":"no.such.event"}',
            '{"type":"input_audio_buffer.append","audio":"not base64 !"}',
            '{"type":"input_audio_buffer.append","audio":7}',
            '{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_audio","audio":"!"}]}}',
            '{"type":"conversation.item.create","item":{"type":"message","role":"user","content":"x"}}',
            '{"type":"session.update","session":{"audio":{"input":{"format":{"type":"audio/mp3"}}}}}',
          ]
        : []),
    ]
    const caller = await client(headers)
    await until(() => caller.events.length > 0)
    for (const frame of bad) caller.send(frame)
    const errors = () => caller.events.filter(({ type }) => type === 'error').length
    const expected = headers === BETA ? bad.length : 5
    await until(() => errors() >= expected)
    caller.send({ type: 'input_audio_buffer.append', audio: Buffer.from([1, 2, 3]).toString('base64') })
    await until(() => upstream.connections[0]!.received.some(({ type }) => type === 'input_audio_buffer.append'))
    expect(caller.closed).toBeUndefined()
    expect(errors()).toBe(expected)
  })

  it('closes on messages too large, invalid UTF-8 and broken frames', async () => {
    const upstream = await open(playing([]), { config: { realtime: { ...REALTIME, message: 100_000 } } })
    const large = await client(headers)
    large.send(JSON.stringify({ type: 'input_audio_buffer.append', audio: 'A'.repeat(200_000) }))
    await until(() => large.closed !== undefined)
    expect(large.closed).toBe(1009)
    const invalid = await client(headers)
    invalid.socket.send(Buffer.from([0x7b, 0xff, 0xfe]), { binary: false })
    await until(() => invalid.closed !== undefined)
    expect(invalid.closed).toBe(1007)
    const endless = await client(headers)
    for (let count = 0; count < 200; count++) endless.socket.send('A'.repeat(1000), { fin: false })
    await until(() => endless.closed !== undefined)
    expect(endless.closed).toBe(1009)
    await until(() => upstream.open === 0)
  })
})

it('a ping flood without a reader does not grow without bound', async () => {
  const upstream = await open(playing([]), { config: { realtime: { ...REALTIME, buffer: 2 ** 20 } } })
  const { port } = new URL(testServer!.server.address)
  const socket = connect(Number(port), '127.0.0.1')
  socket.on('error', () => {})
  socket.write(
    `GET /v1/realtime?model=voice HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${Buffer.alloc(16).toString('base64')}\r\n\r\n`,
  )
  await until(() => upstream.open === 1)
  const ping = Buffer.concat([Buffer.from([0x89, 0x80 | 125, 0, 0, 0, 0]), Buffer.alloc(125)])
  const many = Buffer.concat(Array.from({ length: 500 }, () => ping))
  const flood = setInterval(() => socket.writableLength < 2 ** 22 && socket.write(many), 1)
  socket.pause()
  await until(() => upstream.open === 0)
  clearInterval(flood)
  socket.destroy()
})
