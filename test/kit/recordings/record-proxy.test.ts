import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createBrotliCompress, createDeflate, createGzip, createZstdCompress, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { readFolder } from '../../../src/kit/recordings/folder.ts'
import { openRecordProxy, type RecordProxy } from '../../../src/kit/recordings/record-proxy.ts'
import { Recorder } from '../../../src/kit/recordings/recorder.ts'
import type { Recording } from '../../../src/kit/recordings/recording.ts'
import { openReplay } from '../../../src/kit/recordings/replay-server.ts'
import { FakeUpstream, type Script } from '../../builders/upstream.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const newFolder = (): string => mkdtempSync(join(tmpdir(), 'recordings-'))

interface Recorded {
  readonly proxy: RecordProxy
  readonly folder: string
  readonly warnings: string[]
  readonly upstream: FakeUpstream
  /** Closes the proxy and reads what it recorded. */
  recordings(): Promise<readonly Recording[]>
}

async function recording(script: Script, redact: readonly string[] = [], folder = newFolder()): Promise<Recorded> {
  const upstream = await FakeUpstream.open(script)
  const warnings: string[] = []
  const recorder = new Recorder({ folder, redact, warn: message => warnings.push(message) })
  const proxy = await openRecordProxy({ upstream: `${upstream.address}/v1`, recorder })
  closing.push(
    () => upstream.close(),
    () => proxy.close().catch(() => {}),
  )
  const recordings = async () => {
    await recorder.close()
    return readFolder(folder).map(one => one.recording)
  }
  return { proxy, folder, warnings, upstream, recordings }
}

const EVENTS = ['Hel', 'lo'].map(
  content => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`,
)

const ask = (url: string, body: object, headers: Record<string, string> = {}, path = '/v1/chat/completions') =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

const QUESTION = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Say hello, please.' }] }

describe('a recording proxy', () => {
  test('passes a stream chunk by chunk and keeps its chunks with their times', async () => {
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
    const { proxy, upstream, recordings, folder } = await recording(async response => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'set-cookie': 'a=b', 'x-request-id': 'req_1' })
      response.write(EVENTS[0])
      await mayEnd
      response.end(EVENTS[1])
    })
    const answer = await ask(proxy.url, QUESTION, { authorization: 'Bearer sk-secret-123' })
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader.read()).value).toBe(EVENTS[0])
    await sleep(30)
    end()
    expect((await reader.read()).value).toBe(EVENTS[1])
    expect((await reader.read()).done).toBe(true)
    expect(upstream.seen[0]).toMatchObject({
      ...{ url: '/v1/chat/completions', text: JSON.stringify(QUESTION) },
      headers: { authorization: 'Bearer sk-secret-123' },
    })
    const [one] = await recordings()
    expect(one).toMatchObject({
      ...{ format: 'chat', endpoint: '/v1/chat/completions' },
      request: { method: 'POST', body: { json: QUESTION } },
      answer: { status: 200, complete: true, chunks: EVENTS.map(text => ({ text })) },
    })
    expect(one!.answer!.headers).toEqual({
      'content-type': 'text/event-stream',
      'x-request-id': 'req_1',
      date: expect.any(String),
    })
    const [first, second] = one!.answer!.chunks!
    expect(second!.ms - first!.ms).toBeGreaterThan(20)
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^chat-say-hello-please-[0-9a-f]{8}\.json$/)])
  })

  test('does not pass the password of a proxy, which is for this proxy, on to the upstream', async () => {
    const { proxy, upstream } = await recording(response => void response.end('{}'))
    const headers = { 'proxy-authorization': 'Basic cHJveHk6cGFzc3dvcmQ=', authorization: 'Bearer sk-secret-123' }
    await (await ask(proxy.url, QUESTION, headers)).text()
    expect(upstream.seen[0]!.headers).toMatchObject({ authorization: 'Bearer sk-secret-123' })
    expect(upstream.seen[0]!.headers).not.toHaveProperty('proxy-authorization')
  })

  test('decodes compressed answers for the file, chunk by chunk, and passes them as they are', async () => {
    const { proxy, recordings } = await recording(async (response, { text }) => {
      const isStream = text.includes('"stream"')
      response.writeHead(200, {
        'content-type': isStream ? 'text/event-stream' : 'application/json',
        'content-encoding': 'gzip',
      })
      if (!isStream) return response.end(gzipSync('{"id":"a"}'))
      const gzip = createGzip()
      gzip.pipe(response)
      for (const event of EVENTS) {
        gzip.write(event)
        await new Promise<void>(done => gzip.flush(() => done()))
        await sleep(20)
      }
      return gzip.end()
    })
    expect(await (await ask(proxy.url, QUESTION)).text()).toBe(EVENTS.join(''))
    expect(await (await ask(proxy.url, { model: 'm', messages: [] })).json()).toEqual({ id: 'a' })
    const [stream, whole] = await recordings()
    expect(stream!.answer).toMatchObject({ content_encoding: 'gzip', chunks: EVENTS.map(text => ({ text })) })
    expect(whole!.answer).toMatchObject({ content_encoding: 'gzip', body: { json: { id: 'a' } } })
    expect(whole!.answer!.headers).not.toHaveProperty('content-encoding')
  })

  test('passes an answer that breaks off, and records that it is not complete', async () => {
    const { proxy, recordings } = await recording(response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(EVENTS[0], () => setTimeout(() => response.destroy(), 20))
    })
    const answer = await ask(proxy.url, QUESTION)
    await expect(answer.text()).rejects.toThrow()
    await sleep(20)
    expect((await recordings())[0]!.answer).toMatchObject({ complete: false, chunks: [{ text: EVENTS[0] }] })
  })

  test('records the rest of an answer whose caller left, for callers that stay', async () => {
    const { promise: hasLeft, resolve: leave } = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    const { proxy, recordings } = await recording(async response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(EVENTS[0])
      await hasLeft
      await sleep(20)
      response.end(EVENTS[1], () => ended.resolve())
    })
    const caller = new AbortController()
    const answer = await fetch(`${proxy.url}/v1/chat/completions`, {
      ...{ method: 'POST', body: JSON.stringify(QUESTION), signal: caller.signal },
      headers: { 'content-type': 'application/json' },
    })
    await answer.body!.getReader().read()
    caller.abort()
    leave()
    await ended.promise
    await sleep(50)
    expect((await recordings())[0]!.answer).toMatchObject({
      complete: true,
      chunks: EVENTS.map(text => ({ text })),
    })
  })

  test('records what came of an answer whose caller left when it stops', async () => {
    const { proxy, recordings } = await recording(response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(EVENTS[0])
    })
    const caller = new AbortController()
    const answer = await fetch(`${proxy.url}/v1/chat/completions`, {
      ...{ method: 'POST', body: JSON.stringify(QUESTION), signal: caller.signal },
      headers: { 'content-type': 'application/json' },
    })
    await answer.body!.getReader().read()
    caller.abort()
    await sleep(50)
    await proxy.close()
    expect((await recordings())[0]!.answer).toMatchObject({ complete: false, chunks: [{ text: EVENTS[0] }] })
  })

  test.each([
    ['gzip', createGzip],
    ['deflate', createDeflate],
    ['br', createBrotliCompress],
    ['zstd', createZstdCompress],
  ] as const)('records a stream in %s that breaks off, as far as it came', async (encoding, compressor) => {
    const { proxy, recordings, warnings } = await recording(async response => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': encoding })
      const compressed = compressor()
      compressed.pipe(response)
      compressed.write(EVENTS[0])
      await new Promise<void>(done => compressed.flush(() => done()))
      await sleep(20)
      response.destroy()
    })
    const answer = await ask(proxy.url, QUESTION)
    await expect(answer.text()).rejects.toThrow()
    const [one] = await recordings()
    expect(warnings).toEqual([])
    expect(one!.answer).toMatchObject({ content_encoding: encoding, complete: false, chunks: [{ text: EVENTS[0] }] })
  })

  test('answers in the format of the caller if the upstream cannot be reached', async () => {
    const { proxy, upstream, recordings } = await recording(() => {})
    await upstream.close()
    const answer = await ask(proxy.url, {}, {}, '/v1/messages')
    expect(answer.status).toBe(502)
    expect(await answer.json()).toMatchObject({ type: 'error', error: { type: 'api_error' } })
    expect(await recordings()).toEqual([])
  })

  test('passes the call if the folder cannot be written', async () => {
    const folder = join(newFolder(), 'file')
    writeFileSync(folder, 'no folder')
    const { proxy, warnings } = await recording(response => response.end('{"id":"a"}'), [], folder)
    expect(await (await ask(proxy.url, QUESTION)).json()).toEqual({ id: 'a' })
    await expect.poll(() => warnings).toEqual([expect.stringMatching(/^cannot record POST \/v1\/chat\/completions: E/)])
  })
})

/** A secret, planted with many neighbours. */
const SECRET = fc.stringMatching(/^[A-Z]{4}-[0-9]{12}$/)

describe('secrets never reach the file', () => {
  test('in every header, parameter and field, in deltas however they are split, in base64, and in what the upstream repeats', async () => {
    let plan: { readonly events: string; readonly headers: Record<string, string>; readonly status: number } | undefined
    const folder = newFolder()
    const { proxy, recordings } = await recording(
      response => {
        response.writeHead(plan!.status, { 'content-type': 'text/event-stream', ...plan!.headers })
        // Chunks that have nothing to do with events.
        for (let at = 0; at < plan!.events.length; at += 37) response.write(plan!.events.slice(at, at + 37))
        response.end()
      },
      ['/[A-Z]{4}-\\d{12}/', 'metadata.**', 'private'],
      folder,
    )
    const secrets: string[] = []
    await fc.assert(
      fc.asyncProperty(
        SECRET,
        fc.array(fc.nat(40), { maxLength: 6 }),
        fc.string({ maxLength: 5 }),
        async (secret, cuts, salt) => {
          secrets.push(secret)
          const key = `sk-${secret.slice(5)}-${secret.slice(0, 4).toLowerCase()}`
          secrets.push(key)
          const text = `${salt}before ${secret} after ${Buffer.from(`x${secret}y`).toString('base64')} ${key}`
          const at = [0, ...cuts.sort((a, b) => a - b).map(cut => Math.min(cut, text.length)), text.length]
          const deltas = at.slice(1).map((end, index) => text.slice(at[index], end))
          const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`
          const events = [
            ...deltas.map(content => event({ id: 'c1', choices: [{ index: 0, delta: { content } }] })),
            ...deltas.map(part =>
              event({ choices: [{ index: 0, delta: { tool_calls: [{ index: 1, function: { arguments: part } }] } }] }),
            ),
            event({
              [secret]: 'name',
              private: `p${secret.slice(5)}`,
              usage: { nested: [Buffer.from(text).toString('base64url')] },
            }),
            `: comment ${secret}\n\ndata: ${secret}\n\n`,
          ]
          const headers = {
            'x-anything': secret,
            'set-cookie': `id=${secret}`,
            'openai-organization': secret,
            'x-request-id': `r-${secret}`,
          }
          plan = { events: events.join(''), headers, status: salt.length > 3 ? 401 : 200 }
          const sent = {
            ...{
              authorization: `Bearer ${key}`,
              cookie: `session=${secret}`,
              'openai-project': secret,
              'x-api-key': key,
            },
            ...{ 'user-agent': `agent ${secret}`, 'x-anything': secret },
          }
          const question = {
            ...{
              model: 'm',
              stream: true,
              private: { deep: [secret] },
              metadata: { user: { id: `u${secret.slice(5)}` } },
            },
            messages: [
              { role: 'user', content: text },
              {
                role: 'user',
                content: [
                  {
                    type: 'image_url',
                    image_url: { url: `data:text/plain;base64,${Buffer.from(text).toString('base64')}` },
                  },
                ],
              },
            ],
          }
          await (await ask(proxy.url, question, sent, `/v1/chat/completions?key=${key}&other=${secret}`)).text()
        },
      ),
      { numRuns: 40 },
    )
    expect((await recordings()).length).toBe(secrets.length / 2)
    const files = readdirSync(folder).map(name => [name, readFileSync(join(folder, name), 'utf8')] as const)
    for (const [name, text] of files) {
      const all = name + text + foldedTexts(text) + decodedRuns(text)
      for (const secret of secrets) {
        if (all.includes(secret)) throw new Error(`${name} contains ${secret}: ${text}`)
        if (all.includes(secret.slice(5, 17)) && /^[A-Z]/.test(secret))
          throw new Error(`${name} contains the digits of ${secret}: ${text}`)
      }
    }
  }, 60_000)

  /** The deltas of a recording, folded. */
  const foldedTexts = (text: string): string => {
    const { answer } = JSON.parse(text) as Recording
    const stream = (answer?.chunks ?? []).map(chunk => chunk.text ?? '').join('')
    const data = [...stream.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json!))
    const deltas = data.flatMap(({ choices }) => choices ?? []).map(({ delta }) => delta)
    return [
      deltas.map(delta => delta.content ?? '').join(''),
      deltas.map(delta => delta.tool_calls?.[0].function.arguments ?? '').join(''),
    ].join('\n')
  }

  const decodedRuns = (text: string): string =>
    [...text.matchAll(/[A-Za-z0-9+/_-]{12,}={0,2}/g)]
      .map(([run]) => Buffer.from(run, 'base64').toString('latin1'))
      .join('\n')
})

test('a WebSocket session passes frame by frame and is one file', async () => {
  const server = createServer()
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket, message) => {
    socket.send(JSON.stringify({ type: 'session.created', key: message.headers.authorization }))
    socket.on('message', data => socket.send(`{"echo":${data}}`))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const folder = newFolder()
  const recorder = new Recorder({ folder, warn: message => expect.fail(message) })
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const proxy = await openRecordProxy({ upstream, recorder })
  closing.push(
    async () => server.close(),
    () => proxy.close(),
  )
  const client = new WebSocket(`${proxy.url.replace('http', 'ws')}/v1/realtime?model=m`, {
    headers: { authorization: 'Bearer sk-secret-12345' },
  })
  const got: string[] = []
  client.on('message', data => {
    got.push(String(data))
    if (got.length === 1) client.send('{"type":"session.update"}')
    else client.close(1000, 'done')
  })
  await new Promise(resolve => client.once('close', resolve))
  await expect.poll(() => readdirSync(folder)).toHaveLength(1)
  await recorder.close()
  expect(got).toEqual([
    '{"type":"session.created","key":"Bearer sk-secret-12345"}',
    '{"echo":{"type":"session.update"}}',
  ])
  const one = readFolder(folder)[0]!.recording
  expect(one.request).toMatchObject({ method: 'GET', path: '/v1/realtime', query: { model: 'm' } })
  expect(one.session).toMatchObject({
    frames: [
      { from: 'upstream', text: '{"type":"session.created","key":"[redacted]"}' },
      { from: 'caller', text: '{"type":"session.update"}' },
      { from: 'upstream', text: '{"echo":{"type":"session.update"}}' },
    ],
    closed: { from: 'caller', code: 1000, reason: 'done' },
  })
})

test('a session has the subprotocol that the upstream chose, when it is recorded and when it is replayed', async () => {
  const server = createServer()
  const sockets = new WebSocketServer({ server, handleProtocols: () => 'second' })
  sockets.on('connection', socket => socket.close(1000))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const folder = newFolder()
  const recorder = new Recorder({ folder, warn: message => expect.fail(message) })
  const upstream = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const proxy = await openRecordProxy({ upstream, recorder })
  closing.push(
    async () => server.close(),
    () => proxy.close(),
  )
  const chosenAt = async (url: string): Promise<string> => {
    const client = new WebSocket(`${url.replace('http', 'ws')}/v1/realtime?model=m`, ['first', 'second'])
    const opened = new Promise<string>(resolve => client.once('open', () => resolve(client.protocol)))
    await new Promise(resolve => client.once('close', resolve))
    return opened
  }
  expect(await chosenAt(proxy.url)).toBe('second')
  await expect.poll(() => readdirSync(folder)).toHaveLength(1)
  await recorder.close()
  const replay = await openReplay({ recordings: readFolder(folder) })
  closing.push(() => replay.close())
  expect(await chosenAt(replay.url)).toBe('second')
})
