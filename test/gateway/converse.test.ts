import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { json } from '../builders/chat.ts'
import { channelAt } from '../builders/config.ts'
import { converseFrame, frames } from '../builders/frames.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream, type Script } from '../builders/upstream.ts'

/* An upstream of Converse over HTTP: paths, binary streams, and their faults. */

const MODEL = 'arn:aws:bedrock:eu-west-1:1:application-inference-profile/x'
const LLAMA = 'us.meta.llama4-scout-17b-instruct-v1:0'
const REQUEST: JsonObject = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
const USAGE = { inputTokens: 3, outputTokens: 2, totalTokens: 5 }

const START = converseFrame('messageStart', { role: 'assistant' })
const word = (text: string) => converseFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text } })
const STOP = converseFrame('contentBlockStop', { contentBlockIndex: 0 })
const END = converseFrame('messageStop', { stopReason: 'end_turn' })
const METADATA = converseFrame('metadata', { usage: USAGE, metrics: { latencyMs: 1 } })

let upstream: FakeUpstream
let gateway: TestServer
beforeAll(async () => {
  upstream = await FakeUpstream.open(() => {})
  const models = {
    named: new Map([
      ['m', MODEL],
      ['llama', LLAMA],
    ]),
    patterns: [],
  }
  gateway = await TestServer.open([
    channelAt(upstream.address, { format: 'converse', baseUrl: upstream.address, models }),
  ])
})
beforeEach(() => {
  upstream.seen.length = 0
})
afterAll(async () => {
  await gateway.server.close(0)
  await upstream.close()
})

/** Streams a chat answer from these bytes, cut into small chunks. */
async function streamed(bytes: Buffer): Promise<string> {
  upstream.script = async response => {
    frames(response)
    for (let at = 0; at < bytes.length; at += 23) {
      response.write(bytes.subarray(at, at + 23))
      if (at % 4 === 0) await new Promise(resolve => setImmediate(resolve))
    }
    response.end()
  }
  return (await gateway.ask('/v1/chat/completions', { ...REQUEST, stream: true })).text
}

const textIn = (events: string): string =>
  [...events.matchAll(/^data: (\{.*)$/gm)]
    .map(([, data]) => JSON.parse(data!).choices?.[0]?.delta?.content ?? '')
    .join('')

describe('a request', () => {
  test('is sent to the operation of the model, whose name is encoded', async () => {
    upstream.script = response =>
      json(response, {
        output: { message: { role: 'assistant', content: [{ text: 'Hello.' }] } },
        stopReason: 'end_turn',
        usage: USAGE,
      })
    const { json: answer } = await gateway.ask('/v1/chat/completions', REQUEST)
    expect(upstream.seen[0]!.url).toBe(`/model/${encodeURIComponent(MODEL)}/converse`)
    expect(JSON.parse(upstream.seen[0]!.text)).toEqual({ messages: [{ role: 'user', content: [{ text: 'Hi' }] }] })
    expect(answer).toMatchObject({ choices: [{ message: { content: 'Hello.' }, finish_reason: 'stop' }] })
  })

  test('for a stream accepts binary frames', async () => {
    await streamed(Buffer.concat([START, word('Hello.'), STOP, END, METADATA]))
    expect(upstream.seen[0]!.url).toBe(`/model/${encodeURIComponent(MODEL)}/converse-stream`)
    expect(upstream.seen[0]!.headers.accept).toBe('application/vnd.amazon.eventstream')
  })
})

describe('a stream with tools of a model that has none, such as Llama,', () => {
  const TOOL = { name: 'f', parameters: { type: 'object' } }
  const ANSWER = {
    output: { message: { role: 'assistant', content: [{ toolUse: { toolUseId: 't', name: 'f', input: { a: 1 } } }] } },
    stopReason: 'tool_use',
    usage: USAGE,
  }

  test('comes from a whole answer', async () => {
    upstream.script = response => json(response, ANSWER)
    const body = { ...REQUEST, model: 'llama', stream: true, tools: [{ type: 'function', function: TOOL }] }
    const { text } = await gateway.ask('/v1/chat/completions', body)
    expect(upstream.seen[0]!.url).toMatch(/\/converse$/)
    expect(text).toContain('"arguments":"{\\"a\\":1}"')
    expect(text).toContain('"finish_reason":"tool_calls"')
    expect(text).toMatch(/data: \[DONE\]\s*$/)
  })
})

describe('a stream', () => {
  test('reaches the caller with its usage, however its bytes are cut', async () => {
    const text = await streamed(Buffer.concat([START, word('Hel'), word('lo.'), STOP, END, METADATA]))
    expect(textIn(text)).toBe('Hello.')
    expect(text).toContain('"finish_reason":"stop"')
    expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true)
  })

  test('of calls has their names, ids and arguments', async () => {
    const text = await streamed(
      Buffer.concat([
        START,
        converseFrame('contentBlockStart', {
          contentBlockIndex: 0,
          start: { toolUse: { toolUseId: 'tooluse_1', name: 'look' } },
        }),
        converseFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { toolUse: { input: '{"at":' } } }),
        converseFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { toolUse: { input: '1}' } } }),
        STOP,
        converseFrame('messageStop', { stopReason: 'tool_use' }),
        METADATA,
      ]),
    )
    for (const part of ['"id":"tooluse_1"', '"name":"look"', '{\\"at\\":', '"finish_reason":"tool_calls"'])
      expect(text).toContain(part)
  })

  test('requested whole is collected', async () => {
    upstream.script = response => frames(response).end(Buffer.concat([START, word('Hello.'), STOP, END, METADATA]))
    const { json: answer } = await gateway.ask('/v1/chat/completions', REQUEST)
    expect(answer).toMatchObject({ choices: [{ message: { content: 'Hello.' } }], usage: { total_tokens: 5 } })
  })

  test.each([
    ['an exception', converseFrame('modelStreamErrorException', { message: 'The model broke.' }), 'The model broke.'],
    ['a damaged frame', damaged(word('lo.')), 'The upstream sent a damaged frame.'],
    ['an end within a frame', word('lo.').subarray(0, 30), 'The upstream ended its answer within a frame.'],
    ['an end between frames', Buffer.alloc(0), 'The upstream ended its answer early.'],
  ])('that breaks off by %s ends with an error and without a finish', async (_, bytes, message) => {
    const text = await streamed(Buffer.concat([START, word('Hel'), bytes]))
    expect(textIn(text)).toBe('Hel')
    expect(text).toContain(message)
    expect(text).not.toMatch(/"finish_reason":"/)
  })

  test.each([
    ['a frame of 25 MiB', 'application/vnd.amazon.eventstream', oversized(25 * 2 ** 20)],
    ['frames that claim to be server-sent events', 'text/event-stream', Buffer.concat([START, word('Hello.'), END])],
    ['frames that claim to be text', 'text/plain', Buffer.concat([START, word('Hello.'), END])],
    ['frames that claim to be JSON', 'application/json', Buffer.concat([START, word('Hello.'), END])],
    ['text that claims to be frames', 'application/vnd.amazon.eventstream', Buffer.from('<html>Bad gateway</html>')],
  ])('that is %s is an error with a status, whole and streamed', async (_, type, bytes) => {
    upstream.script = response => response.writeHead(200, { 'content-type': type }).end(bytes)
    for (const stream of [true, false]) {
      const { status, json: body } = await gateway.ask('/v1/chat/completions', { ...REQUEST, stream })
      expect(status).toBe(502)
      expect(body.error.message).toMatch(/upstream/i)
    }
  })

  test('whose first frame is an exception is an error with a status', async () => {
    const script: Script = response =>
      frames(response).end(converseFrame('throttlingException', { message: 'Slow down.' }))
    upstream.script = script
    const { status, text } = await gateway.ask('/v1/chat/completions', { ...REQUEST, stream: true })
    expect(status).toBe(429)
    expect(text).toContain('Slow down.')
  })
})

/** Returns the beginning of a frame with this length. */
function oversized(length: number): Buffer {
  const bytes = Buffer.alloc(64)
  bytes.writeUInt32BE(length)
  return bytes
}

function damaged(frame: Buffer): Buffer {
  const bytes = Buffer.from(frame)
  bytes[bytes.length - 6]! ^= 1
  return bytes
}

describe('an error', () => {
  test.each([
    [403, 'ExpiredTokenException', 503],
    [403, 'InvalidSignatureException:http://internal.amazon.com/', 503],
    [429, 'ThrottlingException', 429],
    [404, 'ResourceNotFoundException', 404],
  ])('%i %s becomes %i', async (status, exception, becomes) => {
    upstream.script = response => {
      response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': exception })
      response.end('{"message":"It went wrong."}')
    }
    expect((await gateway.ask('/v1/chat/completions', REQUEST)).status).toBe(becomes)
  })
})
