import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { ANSWER, ASK, chunk, events, failure, HEAD, helloWhole, json, STREAM, TAIL, words } from '../builders/chat.ts'
import { channelAt, configOf, KEY } from '../builders/config.ts'
import type { TestServer } from '../builders/gateway.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'
import { TIMED, until } from '../builders/time.ts'
import type { Script } from '../builders/upstream.ts'

const { closing, open, openGateway, openUpstream } = opener()
const packed = { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' }

describe('what an upstream packs unasked', () => {
  test('and breaks is let go at once, though it never ends', async () => {
    for (const body of [ASK, STREAM]) {
      const { testServer, upstream } = await open(
        response => void response.writeHead(200, packed).write('this is no gzip'),
      )
      expect((await testServer.ask(CHAT_PATH, body)).status).toBe(502)
      await until(() => upstream.seen[0]!.brokenAt !== undefined, 10_000)
    }
  })

  test.each(['GZIP', 'x-gzip'])('may be called %s', async encoding => {
    const { testServer } = await open(response =>
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding })
        .end(gzipSync(JSON.stringify(ANSWER))),
    )
    expect((await testServer.ask(CHAT_PATH, ASK)).json).toEqual(ANSWER)
  })
})

describe('a caller that holds a connection', () => {
  const hold = async (testServer: TestServer, text: string): Promise<{ closed: () => boolean; resume(): void }> => {
    const socket = connect(Number(new URL(testServer.server.address).port), '127.0.0.1')
    let closed = false
    socket.on('error', () => {}).on('close', () => (closed = true))
    closing.push(() => socket.destroy())
    socket.write(text)
    await new Promise(resolve => socket.once('readable', resolve))
    return { closed: () => closed, resume: () => void socket.resume() }
  }
  const headOf = (length: number, key = KEY): string =>
    `POST ${CHAT_PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-length: ${length}\r\n\r\n`

  test('and never sends the body of a request that was refused loses it', async () => {
    const { testServer } = await open(helloWhole)
    const held = await hold(testServer, headOf(1000, 'nobody'))
    held.resume()
    await until(held.closed, 10_000)
  })

  test('and never takes a whole answer loses it', async () => {
    const large = { ...ANSWER, choices: [{ ...ANSWER.choices[0], message: { content: 'x'.repeat(20_000_000) } }] }
    const { testServer } = await open(response => json(response, large), { heartbeat: 40 })
    const body = JSON.stringify(ASK)
    const held = await hold(testServer, headOf(body.length) + body)
    await new Promise(resolve => setTimeout(resolve, 1200))
    held.resume()
    await until(held.closed, 10_000)
  })
})

describe('a reload', () => {
  const slowly: Script = response => setTimeout(() => json(response, failure('Oops.'), 500), 150)
  const second = (address: string, key: string) => channelAt(address, { name: 'second', priority: 1, key })

  test('leaves a request the channels it found, each with its own key', async () => {
    const [first, old, next] = [
      await openUpstream(slowly),
      await openUpstream(helloWhole),
      await openUpstream(helloWhole),
    ]
    const testServer = await openGateway([channelAt(first.address), second(old.address, 'old-key')])
    const asked = testServer.ask(CHAT_PATH, ASK)
    await until(() => first.seen.length === 1)
    testServer.server.reload(configOf([second(next.address, 'new-key')]))
    expect((await asked).status).toBe(200)
    expect(old.seen[0]!.headers.authorization).toBe('Bearer old-key')
    expect(next.seen).toHaveLength(0)
  })

  test('that takes all channels away drops nothing', async () => {
    const [first, spare] = [await openUpstream(slowly), await openUpstream(helloWhole)]
    const testServer = await openGateway([channelAt(first.address), second(spare.address, 'k')])
    const asked = testServer.ask(CHAT_PATH, ASK)
    await until(() => first.seen.length === 1)
    testServer.server.reload(configOf([]))
    expect((await asked).status).toBe(200)
    expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(404)
  })
})

test('an upstream that counts without end blocks no key for ever', async () => {
  let counts = '1e999'
  const { testServer } = await open(
    response =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(ANSWER).replace(/"total_tokens":\d+/, `"total_tokens":${counts}`)),
    { group: { tpm: 1000 } },
  )
  expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
  expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
  counts = '-1e300'
  expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
  expect((await testServer.ask(CHAT_PATH, ASK)).status).toBe(200)
})

test.each([
  ['stays open', () => {}],
  ['goes on', (response: ServerResponse) => setInterval(() => response.write(words('More.')), 20)],
])('a stream nobody asked for is whole at its last event, though it %s behind it', TIMED, async (_, more) => {
  const { testServer, upstream } = await open(response => {
    events(response).write(`${HEAD}${words('Hello.')}${TAIL}`)
    const timer = more(response)
    response.on('close', () => clearInterval(timer as NodeJS.Timeout))
  })
  const at = Date.now()
  expect((await testServer.ask(CHAT_PATH, ASK)).json.choices[0].message.content).toBe('Hello.')
  expect(Date.now() - at).toBeLessThan(1500)
  await until(() => upstream.seen[0]!.brokenAt !== undefined, 10_000)
})

test('what comes after the end of a stream is not heard', async () => {
  const { testServer } = await open(response =>
    events(response).end(`${HEAD}${words('Hello.')}${TAIL}${words('More.')}`),
  )
  expect((await testServer.ask(CHAT_PATH, STREAM)).text).not.toContain('More.')
})

describe('an answer of very many pieces', () => {
  const many = <T>(count: number, piece: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, at) => piece(at))
  const call = (index: number) => ({
    index,
    id: `c${index}`,
    type: 'function',
    function: { name: 'f', arguments: '{}' },
  })

  test('takes time for each of them, not for each pair', TIMED, async () => {
    const calls = chunk({ tool_calls: many(30_000, call) })
    const { testServer } = await open(response => events(response).end(`${HEAD}${calls}${TAIL}`))
    for (const body of [ASK, STREAM]) {
      const at = Date.now()
      const { status, text } = await testServer.ask(CHAT_PATH, body)
      expect(status).toBe(200)
      expect(text).toContain('"c29999"')
      expect(Date.now() - at).toBeLessThan(4000)
    }
  })

  const odds = many(150_000, () => ({ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }))

  test('is told to its end', async () => {
    const rated = JSON.stringify({ choices: [{ index: 0, delta: { content: 'a' }, logprobs: { content: odds } }] })
    const { testServer } = await open(response => events(response).end(`${HEAD}data: ${rated}\n\n${TAIL}`))
    expect((await testServer.ask(CHAT_PATH, STREAM)).text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  test('is no fault of the caller, even where it is too much', async () => {
    const citation = {
      type: 'char_location',
      cited_text: 'a',
      document_index: 0,
      start_char_index: 0,
      end_char_index: 1,
    }
    const content = [{ type: 'text', text: 'a', citations: many(150_000, () => citation) }]
    const upstream = await openUpstream(response => json(response, { type: 'message', role: 'assistant', content }))
    const testServer = await openGateway([channelAt(upstream.address, { format: 'messages' })])
    expect((await testServer.ask(CHAT_PATH, ASK)).status).not.toBe(400)
  })
})
