import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { KEY, REALTIME } from '../builders/config.ts'
import { TestServer } from '../builders/gateway.ts'
import { until } from '../builders/time.ts'
import { Client, type Event } from '../sockets/client.ts'
import { channelTo, created, type Script, ScriptedUpstream } from './upstream.ts'

let testServer: TestServer | undefined
let upstreams: ScriptedUpstream[] = []

afterEach(async () => {
  await testServer?.server.close()
  testServer = undefined
  for (const upstream of upstreams) await upstream.close()
  upstreams = []
})

const PATH = '/v1/realtime?model=voice'

/** Creates a session and answers every `response.create`. */
const answering: Script = async connection => {
  connection.send(created())
  for (let count = 1; ; count++) {
    await connection.until(count)
    if (connection.received[count - 1]!['type'] !== 'response.create') continue
    connection.send({ type: 'response.created', event_id: 'e', response: { id: 'resp_1', status: 'in_progress' } })
    connection.send('{ "event_id":"e2", "type":"response.output_text.delta","delta":"Hi","spelled": "as it came" }')
    connection.send({
      type: 'response.done',
      response: { id: 'resp_1', status: 'completed', output: [], usage: { input_tokens: 7, output_tokens: 3 } },
    })
  }
}

async function open(script: Script = answering): Promise<ScriptedUpstream> {
  const upstream = await ScriptedUpstream.open(script)
  upstreams.push(upstream)
  testServer = await TestServer.open([channelTo(upstream)])
  return upstream
}

const client = (headers: { [name: string]: string } = {}, path = PATH) =>
  Client.open(testServer!.server.address, headers, path)

describe('a caller and an upstream of the same format', () => {
  it('pass frames unchanged, under the caller’s model', async () => {
    const upstream = await open()
    const caller = await client()
    await until(() => caller.events.length === 1)
    // The upstream's session id must not reach the caller.
    expect(caller.events[0]).toEqual(created({ model: 'voice', id: expect.stringMatching(/^sess_(?!up)/) }))
    expect(upstream.connections[0]!.message.url).toBe('/v1/realtime?model=upstream-voice')
    expect(upstream.connections[0]!.message.headers.authorization).toBe('Bearer upstream-key')
    caller.send({ type: 'response.create', event_id: 'mine' })
    await until(() => caller.events.length === 4)
    expect(upstream.connections[0]!.received).toEqual([{ type: 'response.create', event_id: 'mine' }])
    expect(caller.events[2]).toMatchObject({ spelled: 'as it came' })
    await caller.close()
    await until(() => upstream.open === 0)
    await until(() => testServer!.lines.some(({ message }) => message === 'session'))
    const { fields } = testServer!.lines.find(({ message }) => message === 'session')!
    expect(fields).toMatchObject({
      ...{ key: 'dev', model: 'voice', channel: 'up', format: 'realtime', upstream_model: 'upstream-voice' },
      ...{ responses: 1, input_tokens: 7, output_tokens: 3, attempts: 1 },
    })
  })

  it('have close codes pass, both ways', async () => {
    const upstream = await open()
    const first = await client()
    upstream.connections[0]!.socket.close(4001, 'because')
    await until(() => first.closed !== undefined)
    expect(first.closed).toBe(4001)
    const second = await client()
    second.socket.close(3333, 'enough')
    await until(() => upstream.connections[1]!.closed !== undefined)
    expect(upstream.connections[1]!.closed).toEqual({ code: 3333, reason: 'enough' })
  })

  it('are told what is no event, and go on', async () => {
    const upstream = await open()
    const caller = await client()
    caller.send('not json')
    caller.send(Buffer.from([1, 2, 3]))
    caller.send({ type: 'session.update', event_id: 'u1', session: { type: 'realtime', Model: 'other' } })
    caller.send({ type: 'response.create' })
    await until(() => caller.events.some(({ type }) => type === 'response.done'))
    const errors = caller.events.filter(({ type }) => type === 'error').map(({ error }) => error)
    expect(errors.map(({ code }) => code)).toEqual(['invalid_json', 'invalid_frame', 'invalid_request'])
    expect(errors[2].event_id).toBe('u1')
    expect(upstream.connections[0]!.received).toHaveLength(1)
  })
})

describe('what an upstream could read in a frame', () => {
  /** Collects every frame as the upstream received it. */
  async function listening() {
    const texts: string[] = []
    await open(connection => {
      connection.socket.on('message', data => {
        texts.push(String(data))
        if (String(data).includes('"session.update"')) connection.send({ ...created(), type: 'session.updated' })
      })
      connection.send(created())
    })
    return texts
  }

  it.each([
    '{"type":"session.update","Session":{"model":"dear"}}',
    '{"type":"session.update","session":{},"SESSION":{"model":"dear"}}',
    '{"type":"session.update","\u017fession":{"model":"dear"}}',
    '{"type":"session.update","session":{"model":"voice","Model":"dear"}}',
    '{"type":"session.update","session":{"mod\\u0045l":"dear"}}',
    '{"type":"transcription_session.update","session":{"MODEL":"dear"}}',
    '{"type":"input_audio_buffer.append","audio":"AAAA","Type":"session.update","session":{"model":"dear"}}',
    '{"type":"input_audio_buffer.append","Type":"session.update","session":{"model":"dear"},"audio":"AAAA"}',
    '{"type":"response.create","response":{"Model":"dear"}}',
    '{"type":"response.create","Response":{"model":"dear"}}',
  ])('is no other model: %s is refused', async frame => {
    const texts = await listening()
    const caller = await client()
    caller.send(frame)
    caller.send({ type: 'input_audio_buffer.commit' })
    await until(() => texts.length > 0 && caller.events.length > 1)
    expect(texts).toEqual(['{"type":"input_audio_buffer.commit"}'])
    expect(caller.events[1]).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } })
  })

  it('is the session’s own model, whatever else an event names, as vendors ignore it', async () => {
    const texts = await listening()
    const caller = await client()
    const session = { type: 'realtime', instructions: 'Be kind.' }
    caller.send({ type: 'session.update', session: { ...session, model: 'dear' } })
    caller.send({ type: 'response.create', response: { model: 'dear' } })
    caller.send('{"type":"input_audio_buffer.clear","session":{"model":"dear"}}')
    await until(() => texts.length === 3)
    expect(texts.map(text => JSON.parse(text))).toEqual([
      { type: 'session.update', session: { ...session, model: 'upstream-voice' } },
      { type: 'response.create', response: { model: 'upstream-voice' } },
      { type: 'input_audio_buffer.clear', session: { model: 'upstream-voice' } },
    ])
    expect(caller.events.filter(({ type }) => type === 'error')).toEqual([])
  })

  it('is the session’s own model where events are translated', async () => {
    const texts = await listening()
    const caller = await client({ 'openai-beta': 'realtime=v1' })
    caller.send({ type: 'session.update', session: { model: 'dear', instructions: 'Be kind.' } })
    await until(() => texts.some(text => text.includes('Be kind.')))
    expect(JSON.parse(texts.at(-1)!).session).toMatchObject({ model: 'upstream-voice', instructions: 'Be kind.' })
    expect(texts.join()).not.toContain('dear')
  })

  it('is what the gateway saw: settings that stand there twice are one', async () => {
    const texts = await listening()
    const caller = await client()
    caller.send('{"type":"session.update","session":{"model":"dear"},"session":{"instructions":"i"}}')
    caller.send('{"type":"session.update","session":{"model":"dear"},"session":null}')
    caller.send('{"type":"response.create","response":{"model":"dear"},"response":{"model":"voice"}}')
    await until(() => texts.length === 3)
    expect(texts).toEqual([
      '{"type":"session.update","session":{"instructions":"i"}}',
      '{"type":"session.update","session":null}',
      '{"type":"response.create","response":{"model":"upstream-voice"}}',
    ])
  })

  it('is every byte of any other frame', async () => {
    const audio = 'QUJD'.repeat(50_000)
    const frames = [
      `{"type":"input_audio_buffer.append","audio":"${audio}"}`,
      ` { "event_id" : "e", "type" : "input_audio_buffer.append", "audio" : "${audio}" } `,
      `{"type":"input_audio_buffer.append","event_id":"e","audio":"${audio}"}`,
      `{"type":"input_audio_buffer.append","audio":"${audio}","event_id":"e"}`,
      `{"audio":"${audio}","type":"input_audio_buffer.append"}`,
      `{"type":"input_audio_buffer.append","audio":"AA\\/\\/"}`,
      '{"type":"conversation.item.create", "item":{"Model":"text", "type":"message","content":[]}}',
    ]
    const texts = await listening()
    const caller = await client()
    for (const frame of frames) caller.send(frame)
    await until(() => texts.length === frames.length)
    expect(texts).toEqual(frames)
  })

  it('is no other model where events are translated, or a secret binds the session', async () => {
    const texts = await listening()
    const caller = await client({ 'openai-beta': 'realtime=v1' })
    caller.send('{"type":"session.update","session":{"Model":"dear","unknown":1}}')
    await until(() => caller.events.some(({ type }) => type === 'error'))
    const session = { type: 'realtime', model: 'voice', Model: 'dear' }
    expect((await testServer!.ask('/v1/realtime/client_secrets', { session })).status).toBe(400)
    expect(texts.join()).not.toContain('dear')
  })
})

describe('the endpoint', () => {
  const refused = (path: string, headers: { [name: string]: string } = {}) =>
    Client.open(testServer!.server.address, headers, path).then(
      () => 101,
      thrown => thrown.status as number,
    )

  it('refuses in HTTP before the upgrade', async () => {
    await open()
    expect(await refused('/v1/realtime')).toBe(400)
    expect(await refused('/v1/realtime?model=nobody')).toBe(404)
    expect(await refused(PATH, { authorization: '' })).toBe(401)
    expect(await refused(PATH, { authorization: 'Bearer wrong' })).toBe(401)
    expect(await refused(PATH, { version: '8' })).toBe(426)
  })

  it('takes a key as a subprotocol from a program without headers, as the AI SDK sends it, but not from a page', async () => {
    await open()
    const headers = { authorization: '', 'sec-websocket-protocol': `openai-insecure-api-key.${KEY}` }
    expect(await refused(PATH, headers)).toBe(101)
    expect(await refused(PATH, { ...headers, origin: 'https://page.example' })).toBe(401)
    expect(await refused(PATH, { ...headers, 'sec-websocket-protocol': 'openai-insecure-api-key.wrong' })).toBe(401)
  })

  it('refuses by group, by limit and by the number of sessions', async () => {
    const upstream = await ScriptedUpstream.open(answering)
    upstreams.push(upstream)
    testServer = await TestServer.open([channelTo(upstream)], { group: { models: ['others-*'] } })
    expect(await refused(PATH)).toBe(403)
    await testServer.server.close()
    testServer = await TestServer.open([channelTo(upstream)], { group: { rpm: 1 } })
    expect(await refused(PATH)).toBe(101)
    expect(await refused(PATH)).toBe(429)
  })

  it('tries the next channel where one does not begin a session', async () => {
    const bad = await ScriptedUpstream.open(() => {})
    bad.refusal = { status: 503, body: { error: { message: 'busy' } } }
    const erring = await ScriptedUpstream.open(connection => {
      connection.send({ type: 'error', error: { type: 'server_error', message: 'no' } })
    })
    const good = await ScriptedUpstream.open(answering)
    upstreams.push(bad, erring, good)
    testServer = await TestServer.open([
      channelTo(bad, { name: 'bad', priority: 0 }),
      channelTo(erring, { name: 'erring', priority: 1 }),
      channelTo(good, { name: 'good', priority: 2 }),
    ])
    const caller = await client()
    await until(() => caller.events.length === 1)
    await until(() => erring.open === 0)
    expect(good.open).toBe(1)
    await caller.close()
    await until(() => testServer!.lines.some(({ message }) => message === 'session'))
    expect(testServer.lines.find(({ message }) => message === 'session')!.fields).toMatchObject({ attempts: 3 })
  })

  it('answers in HTTP where no upstream begins', async () => {
    const bad = await ScriptedUpstream.open(() => {})
    bad.refusal = { status: 503, body: { error: { message: 'busy' } } }
    upstreams.push(bad)
    testServer = await TestServer.open([channelTo(bad)])
    expect(await refused(PATH)).toBe(503)
  })
})

describe('a client secret', () => {
  const create = (body: object) =>
    fetch(`${testServer!.server.address}/v1/realtime/client_secrets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  it('opens one session with its settings, by header or subprotocol', async () => {
    const upstream = await open(async connection => {
      connection.send(created())
      await connection.until(1)
      connection.send({ ...created({ instructions: 'Be brief.' }), type: 'session.updated' })
    })
    const answer = await create({ session: { type: 'realtime', model: 'voice', instructions: 'Be brief.' } })
    expect(answer.status).toBe(200)
    const { value, expires_at, session } = (await answer.json()) as Event
    expect(value).toMatch(/^ek_/)
    expect(expires_at).toBeGreaterThan(Date.now() / 1000)
    expect(session).toMatchObject({ type: 'realtime', model: 'voice', instructions: 'Be brief.' })
    const protocols = { 'sec-websocket-protocol': `realtime, openai-insecure-api-key.${value}`, authorization: '' }
    const caller = await client(protocols, '/v1/realtime').catch(() => undefined)
    expect(caller?.socket.protocol ?? 'realtime').toBe('realtime')
    await until(() => upstream.connections.length === 1)
    expect(upstream.connections[0]!.received[0]).toMatchObject({
      type: 'session.update',
      session: { type: 'realtime', model: 'upstream-voice', instructions: 'Be brief.' },
    })
    await expect(client({ authorization: `Bearer ${value}` })).rejects.toMatchObject({ status: 401 })
  })

  it('without a model opens a session of the model in its address, as clients of xAI name it', async () => {
    const upstream = await open()
    const secret = async () => {
      const { value } = (await (await create({ expires_after: { seconds: 300 } })).json()) as Event
      return { authorization: `Bearer ${value}` }
    }
    const caller = await client(await secret())
    await until(() => caller.events.length === 1)
    expect(upstream.connections[0]!.message.url).toBe('/v1/realtime?model=upstream-voice')
    await expect(client(await secret(), '/v1/realtime?model=nobody')).rejects.toMatchObject({ status: 404 })
    await expect(client(await secret(), '/v1/realtime')).rejects.toMatchObject({ status: 400 })
  })

  it('opens a session by the subprotocol of xAI, which browsers expect to come back', async () => {
    await open(async connection => {
      connection.send(created())
      await connection.until(1)
      connection.send({ ...created(), type: 'session.updated' })
    })
    const answer = await create({ session: { type: 'realtime', model: 'voice' } })
    const { value } = (await answer.json()) as Event
    const address = `${testServer!.server.address.replace('http', 'ws')}${PATH}`
    const page = new WebSocket(address, `xai-client-secret.${value}`)
    await new Promise((resolve, reject) => {
      page.onopen = resolve
      page.onerror = reject
    })
    expect(page.protocol).toBe(`xai-client-secret.${value}`)
    page.close()
  })

  it('needs a model that the key may use', async () => {
    await open()
    expect((await create({ session: { type: 'realtime', model: 'nobody' } })).status).toBe(404)
    expect((await create({ session: { model: 'voice' }, expires_after: { seconds: 1 } })).status).toBe(400)
  })
})

it('a caller that leaves before its session begins leaves nothing behind', async () => {
  const slow: Script = async connection => {
    await new Promise(resolve => setTimeout(resolve, 100))
    connection.send(created())
  }
  const upstream = await ScriptedUpstream.open(slow)
  upstreams.push(upstream)
  testServer = await TestServer.open([channelTo(upstream)], {
    config: { realtime: { ...REALTIME, sessions: { key: 1, all: 1 } } },
  })
  for (let count = 0; count < 3; count++) {
    const socket = connect(Number(new URL(testServer.server.address).port), '127.0.0.1')
    const lines = [
      'upgrade: websocket',
      'connection: upgrade',
      'sec-websocket-version: 13',
      `authorization: Bearer ${KEY}`,
    ]
    socket.write(`GET ${PATH} HTTP/1.1\r\nhost: x\r\nsec-websocket-key: ${KEY_16}\r\n${lines.join('\r\n')}\r\n\r\n`)
    await until(() => upstream.connections.length === count + 1)
    socket.destroy()
    await until(() => upstream.open === 0)
    await until(() => testServer!.lines.filter(({ message }) => message === 'session').length === count + 1)
  }
  const caller = await client()
  await until(() => caller.events.length === 1)
  await expect(client()).rejects.toMatchObject({ status: 429 })
})

const KEY_16 = Buffer.alloc(16).toString('base64')
