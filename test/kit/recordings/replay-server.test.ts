import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/canonical/node.ts'
import { readFolder } from '../../../src/kit/recordings/folder.ts'
import { openRecordProxy } from '../../../src/kit/recordings/record-proxy.ts'
import { Recorder, recordingOf } from '../../../src/kit/recordings/recorder.ts'
import { openReplay, type Replay } from '../../../src/kit/recordings/replay-server.ts'
import { FakeUpstream } from '../../builders/upstream.ts'

const folder = mkdtempSync(join(tmpdir(), 'replay-'))

const turns = (content: string) => [{ role: 'user', content }]
const chat = (content: string, more: object = {}) => ({ model: 'm', messages: turns(content), ...more })

interface Asked {
  readonly path: string
  readonly body: object
  readonly headers?: Record<string, string>
}

const CHAT = '/v1/chat/completions'
const VERSION = { 'anthropic-version': '2023-06-01' }

const ask = (url: string, { path, body, headers = {} }: Asked) =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer sk-caller-12345', ...headers },
    body: JSON.stringify(body),
  })

/** Deltas of a chat stream, the last with a finish reason. */
const event = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`

const EVENTS = [
  event({ role: 'assistant', content: 'Hel' }),
  event({ content: 'lo' }),
  event({}, 'stop'),
  'data: [DONE]\n\n',
]

let replay: Replay
beforeAll(async () => {
  let count = 0
  const upstream = await FakeUpstream.open(async (response, { text }) => {
    const body = JSON.parse(text) as { stream?: boolean; messages: readonly { content: string }[] }
    if (body.messages[0]!.content === 'fail') {
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' })
      return response.end('{"error":{"message":"Too fast.","type":"requests","code":"rate_limit_exceeded"}}')
    }
    response.writeHead(200, { 'content-type': body.stream ? 'text/event-stream' : 'application/json' })
    if (body.stream) {
      for (const one of EVENTS) response.write(one)
      return response.end()
    }
    const message = { role: 'assistant', content: `Answer ${++count}` }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    return response.end(JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices }))
  })
  const recorder = new Recorder({ folder, redact: ['/secret-\\d+/'], warn: message => expect.fail(message) })
  const proxy = await openRecordProxy({ upstream: upstream.address, recorder })
  const bodies = [
    chat('twice'),
    chat('twice'),
    chat('stream', { stream: true }),
    chat('fail'),
    chat('my secret-1'),
    chat('never'),
  ]
  for (const body of bodies) await (await ask(proxy.url, { path: CHAT, body })).text()
  await proxy.close()
  await upstream.close()
  replay = await openReplay({ recordings: readFolder(folder) })
})
afterAll(() => replay.close())

/** An answer with one text in chat, messages or contents. */
interface AnyAnswer {
  readonly choices?: readonly [{ readonly message: { readonly content: string } }]
  readonly content?: readonly [{ readonly text: string }]
  readonly candidates?: readonly [{ readonly content: { readonly parts: readonly [{ readonly text: string }] } }]
}

const answersOf = async (scope: string, asked: Asked, times: number): Promise<string[]> => {
  const texts: string[] = []
  for (let time = 0; time < times; time++) {
    const headers = { ...asked.headers, 'interlingua-replay-scope': scope }
    const body = (await (await ask(replay.url, { ...asked, headers })).json()) as AnyAnswer
    texts.push(
      (body.choices?.[0].message.content ?? body.content?.[0].text ?? body.candidates?.[0].content.parts[0].text)!,
    )
  }
  return texts
}

describe('a replay server', () => {
  test('answers equal requests in their order, each scope for itself', async () => {
    const asked = { path: CHAT, body: chat('twice') }
    expect(await answersOf('a', asked, 3)).toEqual(['Answer 1', 'Answer 2', 'Answer 2'])
    expect(await answersOf('b', asked, 1)).toEqual(['Answer 1'])
  })

  test('answers callers of other formats from a recording in chat format', async () => {
    const messages = { path: '/v1/messages', headers: VERSION, body: chat('twice', { max_tokens: 5 }) }
    expect(await answersOf('messages', messages, 2)).toEqual(['Answer 1', 'Answer 2'])
    const contents = {
      path: '/v1beta/models/m:generateContent',
      body: { contents: [{ role: 'user', parts: [{ text: 'twice' }] }] },
    }
    expect(await answersOf('contents', contents, 1)).toEqual(['Answer 1'])
  })

  test('sends a recorded stream byte for byte, also as a whole answer and in other formats', async () => {
    const stream = await ask(replay.url, { path: CHAT, body: chat('stream', { stream: true }) })
    expect(await stream.text()).toBe(EVENTS.join(''))
    const whole = await ask(replay.url, { path: CHAT, body: chat('stream') })
    expect(await whole.json()).toMatchObject({ choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }] })
    const body = chat('stream', { max_tokens: 5, stream: true })
    const events = await (await ask(replay.url, { path: '/v1/messages', headers: VERSION, body })).text()
    expect(events).toContain(
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}',
    )
    expect(events).toContain('event: message_stop')
    const streamed = await (await ask(replay.url, { path: CHAT, body: chat('never', { stream: true }) })).text()
    expect(streamed).toMatch(/"content":"Answer 4"[\s\S]*data: \[DONE\]/)
  })

  test('answers with recorded errors, in the format of the caller', async () => {
    const same = await ask(replay.url, { path: CHAT, body: chat('fail') })
    expect([same.status, same.headers.get('retry-after')]).toEqual([429, '7'])
    const other = await ask(replay.url, {
      path: '/v1/messages',
      headers: VERSION,
      body: chat('fail', { max_tokens: 5 }),
    })
    expect(other.status).toBe(429)
    expect(await other.json()).toMatchObject({ type: 'error', error: { type: 'rate_limit_error' } })
  })

  test('matches a request whose secret was redacted', async () => {
    expect(await answersOf('secret', { path: CHAT, body: chat('my secret-1') }, 1)).toEqual(['Answer 3'])
    expect(await answersOf('secret2', { path: CHAT, body: chat('my secret-22') }, 1)).toEqual(['Answer 3'])
  })

  test('refuses a changed prompt with the nearest recording and a diff, in the format of the caller', async () => {
    const miss = await ask(replay.url, { path: CHAT, body: chat('twice?') })
    expect(miss.status).toBe(404)
    const { message } = ((await miss.json()) as { error: { message: string } }).error
    expect(message).toMatch(
      /^No recording matches POST \/v1\/chat\/completions\. The nearest is chat-twice-[0-9a-f]{8}\.json; it differs in:\n- messages\.0\.content\.0\.text: "twice"\n\+ messages\.0\.content\.0\.text: "twice\?"$/,
    )
    expect(replay.misses).toContain(message)
    const other = await ask(replay.url, { path: '/v1/messages', headers: VERSION, body: chat('no', { max_tokens: 5 }) })
    expect(other.status).toBe(404)
    expect(await other.json()).toMatchObject({ type: 'error', error: { type: 'not_found_error' } })
  })

  test('says why a request that its format refuses matches nothing', async () => {
    const miss = await ask(replay.url, { path: '/v1/messages', body: chat('fail', { max_tokens: 5 }) })
    expect(miss.status).toBe(404)
    const { message } = ((await miss.json()) as { error: { message: string } }).error
    expect(message).toMatch(
      /^No recording matches POST \/v1\/messages\. The request is invalid: anthropic-version: header is required/,
    )
  })

  test('lists the recordings that nobody requested, and waits as recorded if asked to', async () => {
    const recordings = readFolder(folder).map(one => {
      const { answer } = one.recording
      return { ...one, recording: { ...one.recording, answer: { ...answer!, ms: 100 } } }
    })
    const slow = await openReplay({ recordings, speed: 2 })
    const began = performance.now()
    await (await ask(slow.url, { path: CHAT, body: chat('stream', { stream: true }) })).text()
    expect(performance.now() - began).toBeGreaterThan(45)
    expect(slow.unused).toHaveLength(5)
    expect(slow.unused.filter(file => file.startsWith('chat-stream'))).toEqual([])
    await slow.close()
  })
})

test('equal requests that were recorded with different rules are answered in their order', async () => {
  const recordings = [[], ['/secret-\\d+/'], ['/other-\\d+/'], []].map(async (redact, at) => ({
    file: `${at}.json`,
    recording: {
      ...(await recordingOf(
        { method: 'POST', url: CHAT, headers: {}, body: Buffer.from(JSON.stringify(chat('again'))) },
        {
          ...{ status: 200, headers: { 'content-type': 'application/json' }, ms: 1, isComplete: true },
          chunks: [{ ms: 1, bytes: Buffer.from(`{"answer":${at}}`) }],
        },
        new Date(),
      )),
      redact,
    },
  }))
  const server = await openReplay({ recordings: await Promise.all(recordings) })
  const answers: unknown[] = []
  for (let time = 0; time < 5; time++)
    answers.push(((await (await ask(server.url, { path: CHAT, body: chat('again') })).json()) as JsonObject)['answer'])
  await server.close()
  expect(answers).toEqual([0, 1, 2, 3, 3])
})

test('a call of a recording in another format keeps ids beyond 2^53', async () => {
  const headers = { 'content-type': 'application/json' }
  const answerOf = (body: string) => ({
    ...{ status: 200, headers, ms: 0, isComplete: true },
    chunks: [{ ms: 0, bytes: Buffer.from(body) }],
  })
  const call =
    '{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":{"id":9007199254740993}}}]},"finishReason":"STOP"}]}'
  const body = Buffer.from('{"contents":[{"role":"user","parts":[{"text":"call"}]}]}')
  const request = { method: 'POST', url: '/v1beta/models/m:generateContent', headers, body }
  const recording = await recordingOf(request, answerOf(call), new Date(0))
  const own = await openReplay({ recordings: [{ file: 'a.json', recording }] })
  const text = await (await ask(own.url, { path: CHAT, body: chat('call') })).text()
  await own.close()
  expect(text).toContain('9007199254740993')
})
