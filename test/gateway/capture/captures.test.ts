import type { ClientRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import type { ChannelConfig } from '../../../src/config/index.ts'
import type { CaptureDocument } from '../../../src/gateway/capture/shapes.ts'
import { Administration } from '../../../src/operators/admin/administration.ts'
import { AdminServer } from '../../builders/admin.ts'
import { ANSWER, ASK } from '../../builders/chat.ts'
import { closingAfterEach } from '../../builders/closing.ts'
import { channelAt, KEY, keyOf } from '../../builders/config.ts'
import { addUser, SignedIn } from '../../builders/console.ts'
import { textOf } from '../../builders/http.ts'
import { SOON } from '../../builders/time.ts'
import { FakeUpstream, type Script } from '../../builders/upstream.ts'
import { Client } from '../../sockets/client.ts'
import { openVideoUpstream } from '../../video/upstreams/index.ts'

const closing = closingAfterEach()
const HOUR = 3_600_000

const json: Script = response => response.setHeader('content-type', 'application/json').end(JSON.stringify(ANSWER))

const EVENTS = [
  {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { role: 'assistant', content: 'Hel' } }],
  },
  {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { content: 'lo' } }],
  },
  {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
  },
]

/** Sends one event at a time, with pauses. */
const stream: Script = async response => {
  response.setHeader('content-type', 'text/event-stream')
  for (const event of EVENTS) {
    response.write(`data: ${JSON.stringify(event)}\n\n`)
    await sleep(30)
  }
  response.end('data: [DONE]\n\n')
}

async function upstreamOf(script: Script): Promise<FakeUpstream> {
  const upstream = await FakeUpstream.open(script)
  closing.push(() => upstream.close())
  return upstream
}

async function serverOf(channels: readonly ChannelConfig[], captureUntil: number | null = Date.now() + HOUR) {
  const key = captureUntil === null ? keyOf(KEY, 'dev') : { ...keyOf(KEY, 'dev'), captureUntil }
  const admin = await AdminServer.open(channels, { keys: [key], usage: { retention: HOUR } })
  closing.push(() => admin.close())
  return admin
}

/** Waits until a request's capture is stored. */
const captureOf = (admin: AdminServer, id: string): Promise<CaptureDocument> =>
  vi.waitFor(
    async () => {
      const { status, json } = await admin.get(`/requests/${id}/capture`)
      expect(status).toBe(200)
      return json
    },
    { ...SOON, interval: 20 },
  )

const CHAT = '/v1/chat/completions'
const MESSAGES = '/v1/messages'
const MESSAGES_ASK = {
  model: 'm',
  max_tokens: 100,
  top_k: 5,
  system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] }],
}
const VERSION = { 'anthropic-version': '2023-06-01' }

describe('a captured request', () => {
  test('says, like its log line, by which fact its conversation chose the channel', async () => {
    const upstream = await upstreamOf(json)
    const two = ['a', 'b'].map(name => channelAt(upstream.address, { name }))
    const admin = await serverOf(two)
    const answer = await admin.testServer.ask(CHAT, ASK, { headers: { 'x-session-id': 's1' } })
    expect(await captureOf(admin, answer.headers['x-request-id']!)).toMatchObject({ affinity: 'session' })
    const affinity = () => admin.testServer.lines.findLast(({ message }) => message === 'request')!.fields['affinity']
    expect(affinity()).toBe('session')
    await admin.testServer.ask(CHAT, { ...ASK, prompt_cache_key: 'k' })
    expect(affinity()).toBe('cache-key')
    await admin.testServer.ask(CHAT, ASK)
    expect(affinity()).toBe('beginning')
    const unaffine = await serverOf(two.map(channel => ({ ...channel, affinity: false })))
    await unaffine.testServer.ask(CHAT, ASK)
    expect(unaffine.testServer.lines.findLast(({ message }) => message === 'request')!.fields['affinity']).toBe(
      undefined,
    )
  })

  test('is shown as it was sent, read, passed on, answered and returned', async () => {
    const upstream = await upstreamOf(json)
    const admin = await serverOf([channelAt(upstream.address)])
    const answer = await admin.testServer.ask(`${CHAT}?trace=tell-nobody`, ASK, {
      headers: { 'user-agent': 'tests/1' },
    })
    const id = answer.headers['x-request-id']!
    const captured = await captureOf(admin, id)
    expect(captured).toMatchObject({ id, key_name: 'dev', model: 'm', cut: [] })
    expect(captured.caller).toMatchObject({ format: 'chat', path: CHAT, query: { trace: '[removed]' }, body: ASK })
    expect(captured.caller.headers).toMatchObject({ 'user-agent': 'tests/1', authorization: '[removed]' })
    expect(captured.canonical).toMatchObject({ model: 'm', stream: false, messages: [{ role: 'user' }] })
    const [attempt, ...others] = captured.attempts
    expect(others).toEqual([])
    expect(attempt).toMatchObject({ channel: 'secret-channel', format: 'chat', native: true, losses: [] })
    expect(attempt!.request).toMatchObject({
      origin: 'http://[address]',
      path: `/v1/chat/completions`,
      body: JSON.parse(upstream.seen[0]!.text),
    })
    expect(attempt!.request!.headers).toMatchObject({ authorization: '[removed]', 'content-type': 'application/json' })
    expect(attempt!.answer).toMatchObject({ status: 200, whole: true, body: ANSWER })
    expect(captured.returned).toMatchObject({ status: 200, whole: true, body: answer.json, losses: [] })
    await vi.waitFor(async () => expect((await admin.get(`/requests/${id}`)).json.captured).toBe(true), SOON)
    expect((await admin.get('/requests')).json.data).toMatchObject([{ id, captured: true }])
    expect((await admin.get('/requests?only=captured&model=m')).json.data).toMatchObject([{ id, captured: true }])
    expect((await admin.get('/requests?only=captured&model=other')).json.data).toEqual([])
    expect((await admin.delete(`/requests/${id}/capture`)).status).toBe(204)
    expect((await admin.get('/requests?only=captured')).json.data).toEqual([])
    expect((await admin.get(`/requests/${id}/capture`)).status).toBe(404)
    expect((await admin.delete(`/requests/${id}/capture`)).status).toBe(404)
  })

  test('is listed by an empty value of a field that its request lacks', async () => {
    const upstream = await upstreamOf(json)
    const admin = await serverOf([channelAt(upstream.address)])
    const refused = await admin.testServer.ask(CHAT, { ...ASK, model: 'unknown' })
    const answered = await admin.testServer.ask(CHAT, ASK)
    expect([refused.status, answered.status]).toEqual([404, 200])
    const id = refused.headers['x-request-id']
    await captureOf(admin, id!)
    await captureOf(admin, answered.headers['x-request-id']!)
    await vi.waitFor(async () => expect((await admin.get('/requests')).json.data).toHaveLength(2), SOON)
    for (const only of ['', 'only=captured&'])
      expect((await admin.get(`/requests?${only}channel=`)).json.data).toMatchObject([{ id, captured: true }])
  })

  test('has the events of a stream with their times on both sides', async () => {
    const upstream = await upstreamOf(stream)
    const admin = await serverOf([channelAt(upstream.address)])
    const answer = await admin.testServer.ask(CHAT, { ...ASK, stream: true })
    const captured = await captureOf(admin, answer.headers['x-request-id']!)
    const { events = [], whole } = captured.attempts[0]!.answer!
    expect(whole).toBe(true)
    expect(events.map(({ data }) => data)).toEqual([...EVENTS.map(event => JSON.stringify(event)), '[DONE]'])
    expect(events[2]!.ms - events[0]!.ms).toBeGreaterThan(40)
    const returned = captured.returned.events!
    expect(returned.at(-1)!.data).toBe('[DONE]')
    expect(answer.text).toBe(returned.map(({ data }) => `data: ${data}\n\n`).join(''))
    expect(returned.at(-1)!.ms).toBeGreaterThanOrEqual(returned[0]!.ms + 40)
  })

  test("marks in the caller's body what a translation lost", async () => {
    const upstream = await upstreamOf(json)
    const admin = await serverOf([channelAt(upstream.address)])
    const answer = await admin.testServer.ask(MESSAGES, MESSAGES_ASK, { headers: VERSION })
    const captured = await captureOf(admin, answer.headers['request-id']!)
    expect(captured.caller.format).toBe('messages')
    expect(captured.attempts[0]).toMatchObject({ format: 'chat', native: false })
    const pointers = captured.attempts[0]!.losses.map(({ pointer }) => pointer)
    expect(pointers).toContain('/top_k')
    expect(pointers).toContain('/system/0/cache_control')
    expect(pointers).toContain('/messages/0/content/0/cache_control')
    expect(captured.returned.body).toMatchObject({ type: 'message', content: [{ type: 'text' }] })
  })

  test('has each attempt of a failover, the first with its error', async () => {
    const broken = await upstreamOf(response =>
      response
        .writeHead(500, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { message: 'at 10.1.2.3, key upstream-key-1234' } })),
    )
    const good = await upstreamOf(json)
    const admin = await serverOf([
      channelAt(broken.address, { name: 'first' }),
      channelAt(good.address, { name: 'second', priority: 1 }),
    ])
    const answer = await admin.testServer.ask(CHAT, ASK)
    const captured = await captureOf(admin, answer.headers['x-request-id']!)
    expect(captured.attempts.map(({ channel }) => channel)).toEqual(['first', 'second'])
    const [first, second] = captured.attempts
    expect(first!.answer).toMatchObject({ status: 500, body: { error: { message: 'at [address], key [removed]' } } })
    expect(first!.error).toMatchObject({ kind: 'upstream-failed' })
    expect(second!.error).toBeUndefined()
    expect(second!.sent_after_ms).toBeGreaterThanOrEqual(first!.ended_after_ms!)
  })

  test('that fails has the error it was answered with', async () => {
    const upstream = await upstreamOf(response =>
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message: 'no' } })),
    )
    const admin = await serverOf([channelAt(upstream.address)])
    const answer = await admin.testServer.ask(CHAT, ASK)
    expect(answer.status).toBe(400)
    const captured = await captureOf(admin, answer.headers['x-request-id']!)
    expect(captured).toMatchObject({
      error: 'invalid-request',
      returned: { status: 400, whole: true, body: answer.json },
    })
  })

  test('that is no JSON is shown as text', async () => {
    const upstream = await upstreamOf(json)
    const admin = await serverOf([channelAt(upstream.address)])
    const answer = await admin.testServer.ask(CHAT, '{"model": "m", oops')
    expect(answer.status).toBe(400)
    const captured = await captureOf(admin, answer.headers['x-request-id']!)
    expect(captured.caller).toMatchObject({ text: '{"model": "m", oops' })
    expect(captured.attempts).toEqual([])
    expect(captured.canonical).toBeUndefined()
    const replayed = await admin.post(`/requests/${captured.id}/replay`)
    expect(replayed).toMatchObject({ status: 409, json: { type: 'urn:interlingua:problem:not-repeatable' } })
  })

  test.each([
    ['ends too early', (text: string) => text.slice(0, -1)],
    ['ends within a credential', (text: string) => text.slice(0, text.indexOf('Opaque3') + 10)],
    ['has a comma too much', (text: string) => `${text.slice(0, -1)},}`],
    ['is a list', (text: string) => `[${text}]`],
    ['is written by Python', (text: string) => text.replaceAll('"', "'").replace('true', 'True')],
  ])('whose body %s has no credentials for MCP servers', async (_, broken) => {
    const admin = await serverOf([channelAt('http://127.0.0.1:9')])
    const tool = {
      ...{ type: 'mcp', server_label: 'wiki', server_url: 'https://a.example/mcp?token=Opaque1Value' },
      ...{ authorization: 'Opaque2Value', headers: { 'X-Team': 'Opaque3Value' }, allowed: true },
    }
    const answer = await admin.testServer.ask('/v1/responses', broken(JSON.stringify({ model: 'm', tools: [tool] })))
    expect(answer.status).toBe(400)
    const captured = await captureOf(admin, answer.headers['x-request-id']!)
    expect(JSON.stringify(captured.caller)).toContain('wiki')
    expect(JSON.stringify(captured.caller)).not.toMatch(/Opaque\d/)
  })

  test('whose caller left is not whole', async () => {
    const upstream = await upstreamOf(response => {
      response.setHeader('content-type', 'text/event-stream')
      response.write(`data: ${JSON.stringify(EVENTS[0])}\n\n`)
    })
    const admin = await serverOf([channelAt(upstream.address)])
    const { out, answer } = admin.testServer.send(CHAT, { ...ASK, stream: true })
    const message = await answer
    const id = String(message.headers['x-request-id'])
    await new Promise(resolve => message.once('data', resolve))
    message.on('error', () => {})
    out.destroy()
    const captured = await captureOf(admin, id)
    expect(captured.returned.whole).toBe(false)
    expect(captured.returned.events!.length).toBeGreaterThan(0)
    expect(captured.attempts[0]!.answer).toMatchObject({ status: 200, whole: false })
    expect(captured.error).toBe('cancelled')
  })

  test('of a form has names and sizes of files, and cannot be sent again', async () => {
    const upstream = await upstreamOf(response =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ text: 'hello' })),
    )
    const admin = await serverOf([channelAt(upstream.address, { format: 'transcriptions' })])
    const form = new FormData()
    form.append('model', 'm')
    form.append('file', new Blob([new Uint8Array(1000)], { type: 'audio/wav' }), 'talk.wav')
    const answer = await fetch(`${admin.testServer.server.address}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}` },
      body: form,
    })
    expect(answer.status).toBe(200)
    const captured = await captureOf(admin, answer.headers.get('x-request-id')!)
    expect(captured.caller.files).toMatchObject([
      { field: 'file', name: 'talk.wav', media_type: 'audio/wav', size: 1000 },
    ])
    expect(captured.caller.body).toMatchObject({ model: 'm' })
    expect(captured.attempts[0]!.request!.files).toMatchObject([{ field: 'file', size: 1000 }])
    expect((await admin.post(`/requests/${captured.id}/replay`)).status).toBe(409)
  })

  test('is cut where it is too large, and says where', async () => {
    const upstream = await upstreamOf(json)
    const admin = await serverOf([channelAt(upstream.address)])
    const url = `data:image/png;base64,${'A'.repeat(3_000_000)}`
    const content = [
      { type: 'text', text: 'What is it?' },
      { type: 'image_url', image_url: { url } },
    ]
    const answer = await admin.testServer.ask(CHAT, { ...ASK, messages: [{ role: 'user', content }] })
    const captured = await captureOf(admin, answer.headers['x-request-id']!)
    expect(captured.cut).toContain('/caller/body/messages/0/content/1/image_url/url')
    expect(JSON.stringify(captured).length).toBeLessThan(50_000)
    expect((await admin.post(`/requests/${captured.id}/replay`)).json.detail).toContain('too large')
  })

  test('is one only as long as its key says', async () => {
    const upstream = await upstreamOf(json)
    for (const until of [null, Date.now() - 1000]) {
      const admin = await serverOf([channelAt(upstream.address)], until)
      const answer = await admin.testServer.ask(CHAT, ASK)
      const id = answer.headers['x-request-id']!
      await vi.waitFor(async () => expect((await admin.get(`/requests/${id}`)).status).toBe(200), SOON)
      expect((await admin.get(`/requests/${id}`)).json.captured).toBe(false)
      expect((await admin.get(`/requests/${id}/capture`)).status).toBe(404)
    }
  })
})

test('a key is captured for a while, from the console on', async () => {
  const upstream = await upstreamOf(json)
  const admin = await serverOf([channelAt(upstream.address)])
  const { id, secret, capture_until: none } = (await admin.post('/keys', { name: 'app' })).json
  expect(none).toBeUndefined()
  admin.secrets.length = 0
  const before = Date.now()
  const changed = (await admin.patch(`/keys/${id}`, { capture: '1h' })).json
  expect(Date.parse(changed.capture_until) - before).toBeGreaterThan(HOUR - 1000)
  const answer = await admin.testServer.ask(CHAT, ASK, { headers: { authorization: `Bearer ${secret}` } })
  expect((await captureOf(admin, answer.headers['x-request-id']!)).key).toBe(id)
  expect((await admin.patch(`/keys/${id}`, { capture: null })).json.capture_until).toBeUndefined()
  expect((await admin.patch(`/keys/${id}`, { capture: '8d' })).status).toBe(400)
})

test('a request is sent again to another channel, as its key, and captured', async () => {
  const one = await upstreamOf(json)
  const two = await upstreamOf(json)
  const admin = await serverOf([
    channelAt(one.address, { name: 'one' }),
    channelAt(two.address, { name: 'two', priority: 1 }),
  ])
  const answer = await admin.testServer.ask(CHAT, { ...ASK, temperature: 0.5 })
  const first = await captureOf(admin, answer.headers['x-request-id']!)
  expect(two.seen).toEqual([])
  const { status, json: made } = await admin.post(`/requests/${first.id}/replay`, { channel: 'two' })
  expect(status).toBe(202)
  const second = await captureOf(admin, made.id)
  expect(two.seen).toHaveLength(1)
  expect(JSON.parse(two.seen[0]!.text)).toEqual(JSON.parse(one.seen[0]!.text))
  expect(second).toMatchObject({
    replay_of: first.id,
    key: first.key,
    attempts: [{ channel: 'two' }],
    returned: { status: 200 },
  })
  expect(second.caller.body).toEqual(first.caller.body)
  await admin.post(`/requests/${first.id}/replay`)
  await vi.waitFor(() => expect(one.seen).toHaveLength(2), SOON)
  const nowhere = await admin.post(`/requests/${first.id}/replay`, { channel: 'none' })
  expect([nowhere.status, nowhere.json.errors]).toMatchObject([400, [{ pointer: '/channel' }]])
  expect((await admin.post('/requests/req_0/replay')).status).toBe(404)
})

test('a request is not sent again to a channel that its key may not use, nor when the key is revoked', async () => {
  const upstream = await upstreamOf(json)
  const admin = await serverOf([
    channelAt(upstream.address, { name: 'one' }),
    channelAt(upstream.address, { name: 'two' }),
  ])
  admin.secrets.length = 0
  await admin.post('/groups', { name: 'narrow', channels: ['one'] })
  const key = (await admin.post('/keys', { name: 'app', group: 'narrow', capture: '1h' })).json
  const answer = await admin.testServer.ask(CHAT, ASK, { headers: { authorization: `Bearer ${key.secret}` } })
  const { id } = await captureOf(admin, answer.headers['x-request-id']!)
  expect((await admin.post(`/requests/${id}/replay`, { channel: 'two' })).json.detail).toContain(
    'may not use this channel',
  )
  expect((await admin.post(`/requests/${id}/replay`, { channel: 'one' })).status).toBe(202)
  await admin.delete(`/keys/${key.id}`)
  const { status, json: problem } = await admin.post(`/requests/${id}/replay`)
  expect([status, problem.type]).toEqual([409, 'urn:interlingua:problem:not-repeatable'])
})

test.each(['videos', 'kling'] as const)('an order of a video at every path of %s is sent again', async kind => {
  const scene = await openVideoUpstream(kind, { fields: { models: { named: new Map([['m', 'm']]), patterns: [] } } })
  closing.push(() => scene.close())
  scene.upstream.life = { queued: 0, running: 0, outcome: 'completed' }
  const admin = await serverOf([scene.channel])
  const order = async (path: string, body: object): Promise<string> => {
    const { status, headers, json } = await admin.testServer.ask(path, body)
    expect(status).toBe(200)
    const { id } = await captureOf(admin, headers['x-request-id']!)
    const before = scene.upstream.tasks.size
    expect((await admin.post(`/requests/${id}/replay`)).status).toBe(202)
    await vi.waitFor(() => expect(scene.upstream.tasks.size).toBe(before + 1), SOON)
    return json.id ?? json.data.task_id
  }
  const id = await order('/v1/videos', { model: 'm', prompt: 'A cat.' })
  await order('/videovendor/v1/videos/text2video', { model_name: 'm', prompt: 'A cat.' })
  if (kind === 'kling') return
  await vi.waitFor(async () => {
    const { json } = await admin.testServer.ask(`/v1/videos/${id}`, undefined, { method: 'GET' })
    expect(json.status).toBe('completed')
  }, SOON)
  await order(`/v1/videos/${id}/remix`, { prompt: 'A dog.' })
})

test('a turn on a socket is captured with its frames', async () => {
  const upstream = await upstreamOf(stream)
  const admin = await serverOf([channelAt(upstream.address)])
  const client = await Client.open(admin.testServer.server.address)
  closing.push(() => client.socket.terminate())
  const events = await client.turn({ input: 'Say hello.' })
  expect(events.at(-1).type).toBe('response.completed')
  const { id } = await vi.waitFor(async () => {
    const { data } = (await admin.get('/requests?only=captured')).json
    expect(data).toHaveLength(1)
    return data[0]
  }, SOON)
  const captured = await captureOf(admin, id)
  expect(captured.caller).toMatchObject({ format: 'responses', body: { input: 'Say hello.' } })
  expect(captured.attempts[0]!.answer!.events).toHaveLength(4)
  const frames = captured.returned.events!.map(({ data }) => data).filter(data => data !== '[DONE]')
  expect(frames.map(data => JSON.parse(data))).toEqual(events)
})

test('work in the background is captured with the answer that came later', async () => {
  const upstream = await upstreamOf(json)
  const admin = await serverOf([channelAt(upstream.address)])
  const answer = await admin.testServer.ask('/v1/responses', { model: 'm', input: 'Say hello.', background: true })
  expect(answer.json.status).toBe('queued')
  const captured = await captureOf(admin, answer.headers['x-request-id']!)
  expect(captured.returned.body).toMatchObject({ status: 'queued' })
  expect(captured.attempts[0]!.answer).toMatchObject({ status: 200, whole: true })
})

test('a capture is saved as the files of a fixture', async () => {
  const upstream = await upstreamOf(stream)
  const admin = await serverOf([channelAt(upstream.address)])
  const answer = await admin.testServer.ask(MESSAGES, { ...MESSAGES_ASK, stream: true }, { headers: VERSION })
  const { id } = await captureOf(admin, answer.headers['request-id']!)
  const { files } = (await admin.get(`/requests/${id}/fixture`)).json
  const name = `captured-${id.slice(-8)}`
  expect(files.map((file: { name: string }) => file.name)).toEqual([
    `messages/${name}.request.json`,
    `chat/${name}.request.json`,
    `chat/${name}.events.sse`,
  ])
  const [sent, passed, events] = files.map((file: { content: string }) => file.content)
  expect(JSON.parse(sent)).toEqual({
    path: '/v1/messages',
    query: {},
    headers: VERSION,
    body: { ...MESSAGES_ASK, stream: true },
  })
  expect(JSON.parse(passed)).toMatchObject({ path: '/chat/completions', body: JSON.parse(upstream.seen[0]!.text) })
  expect(events).toBe(`${EVENTS.map(event => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`)
})

test('requests are watched as they begin and end', async () => {
  const upstream = await upstreamOf(json)
  const admin = await serverOf([channelAt(upstream.address)])
  const watching = await admin.testServer.send('/admin/v1/requests/live', undefined, {
    method: 'GET',
    headers: { authorization: `Bearer ${admin.token}` },
  }).answer
  expect(watching.headers['content-type']).toContain('text/event-stream')
  let text = ''
  watching.setEncoding('utf8').on('data', piece => (text += piece))
  await vi.waitFor(() => expect(text).toContain('watching'), SOON)
  const answer = await admin.testServer.ask(CHAT, ASK)
  await vi.waitFor(() => expect(text).toContain('event: over'), SOON)
  const [begun, over] = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
  const id = answer.headers['x-request-id']
  expect(begun).toMatchObject({ id, model: 'm', key_name: 'dev', door: CHAT, captured: true })
  expect(over).toMatchObject({ id, status: 200, channel: 'secret-channel', losses: 0 })
  const ended = textOf(watching)
  await admin.testServer.server.close(2000)
  await ended
})

test('nobody takes all the places of those who watch', async () => {
  const admin = await serverOf([])
  await addUser(admin.store, 'vic', { role: 'viewer' })
  const vic = await SignedIn.at(admin.testServer, 'vic')
  const watch = async (headers: { [name: string]: string }) => {
    const answer = await admin.testServer.send('/admin/v1/requests/live', undefined, { method: 'GET', headers }).answer
    answer.resume().on('error', () => {})
    return answer.statusCode
  }
  const statuses: unknown[] = []
  for (let count = 0; count < 12; count++) statuses.push(await watch({ authorization: '', cookie: vic.cookie }))
  expect(statuses).toEqual([...Array(10).fill(200), 429, 429])
  expect(await watch({ authorization: `Bearer ${admin.token}` })).toBe(200)
})

test('those who leave before their watch begins take no places', async () => {
  const admin = await serverOf([])
  const headers = { authorization: `Bearer ${admin.token}` }
  const watch = () => admin.testServer.send('/admin/v1/requests/live', undefined, { method: 'GET', headers })
  const { token } = Administration.prototype
  const leaving: ClientRequest[] = []
  const slow = vi.spyOn(Administration.prototype, 'token').mockImplementation(async function (
    this: Administration,
    hash,
  ) {
    const found = await token.call(this, hash)
    leaving.pop()?.destroy()
    await sleep(50)
    return found
  })
  for (let count = 0; count < 10; count++) {
    const { out, answer } = watch()
    leaving.push(out)
    await answer.catch(() => {})
  }
  await sleep(200)
  slow.mockRestore()
  expect((await watch().answer).statusCode).toBe(200)
})
