import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/canonical/node.ts'
import { json } from '../builders/chat.ts'
import { channelAt, KEY } from '../builders/config.ts'
import { type Frame, framesIn } from '../builders/frames.ts'
import { TestServer } from '../builders/gateway.ts'
import { FakeUpstream, type Script } from '../builders/upstream.ts'

/* Callers of Bedrock: Converse, InvokeModel and CountTokens, before upstreams of other formats. */

const ARN = 'arn:aws:bedrock:eu-west-1:1:application-inference-profile/x'
const TURNS = [{ role: 'user', content: [{ text: 'Hi' }] }]
const CLAUDE = {
  anthropic_version: 'bedrock-2023-05-31',
  max_tokens: 9,
  messages: [{ role: 'user', content: 'Hi' }],
}
const MESSAGE = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'theirs', stop_reason: 'end_turn', stop_sequence: null },
  content: [{ type: 'text', text: 'Hello.' }],
  usage: { input_tokens: 3, output_tokens: 2 },
}
const sse = (...events: readonly JsonObject[]): string =>
  events.map(event => `event: ${event['type']}\ndata: ${JSON.stringify(event)}\n\n`).join('')
const HALF = sse(
  { type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
)
const REST = sse(
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
)

const whole: Script = (response, { url }) =>
  json(response, url.endsWith('/count_tokens') ? { input_tokens: 7 } : (MESSAGE as never))
const streaming =
  (text: string): Script =>
  response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(text)
  }

let upstream: FakeUpstream
let gateway: TestServer
beforeAll(async () => {
  upstream = await FakeUpstream.open(whole)
  const models = { named: new Map(), patterns: ['*'] }
  gateway = await TestServer.open(
    [channelAt(upstream.address, { format: 'messages', baseUrl: upstream.address, models })],
    { heartbeat: 300 },
  )
})
beforeEach(() => {
  upstream.seen.length = 0
  upstream.script = whole
})
afterAll(async () => {
  await gateway.server.close(0)
  await upstream.close()
})

const at = (model: string, method: string): string => `/model/${encodeURIComponent(model)}/${method}`
const sent = (): JsonObject => JSON.parse(upstream.seen.at(-1)!.text)

async function framesOf(path: string, body: JsonObject): Promise<readonly Frame[]> {
  const answer = await gateway.send(path, body).answer
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  expect(answer.headers['content-type']).toBe('application/vnd.amazon.eventstream')
  return framesIn(Buffer.concat(chunks))
}
const names = (frames: readonly Frame[]): string[] => frames.map(({ name }) => name)
const chunks = (frames: readonly Frame[]) =>
  frames
    .filter(({ name }) => name === 'chunk')
    .map(({ data }) => JSON.parse(Buffer.from(data.bytes, 'base64').toString()))

describe('Converse', () => {
  test.each([ARN, 'us.anthropic.claude-opus-4-8-v1:0', 'meta/llama:1', 'naïve model/ä'])(
    'answers for the model %s',
    async model => {
      const answer = await gateway.ask(at(model, 'converse'), { messages: TURNS })
      expect(answer.status, answer.text).toBe(200)
      expect(answer.json).toMatchObject({
        output: { message: { role: 'assistant', content: [{ text: 'Hello.' }] } },
        ...{ stopReason: 'end_turn', usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 } },
      })
      expect(answer.headers['x-amzn-requestid']).toBe(answer.headers['x-request-id'])
      expect(sent()['model']).toBe(model)
    },
  )

  test('takes models whose slashes and colons are not encoded, and paths below /bedrock', async () => {
    for (const path of [`/model/${ARN}/converse`, `/bedrock/model/${ARN}/converse`]) {
      upstream.seen.length = 0
      expect((await gateway.ask(path, { messages: TURNS })).status).toBe(200)
      expect(sent()['model']).toBe(ARN)
    }
  })

  test('streams frames', async () => {
    upstream.script = streaming(HALF + REST)
    const frames = await framesOf(at('m', 'converse-stream'), { messages: TURNS })
    expect(names(frames)).toEqual([
      ...['messageStart', 'contentBlockDelta', 'contentBlockStop', 'messageStop', 'metadata'],
    ])
    expect(frames[1]!.data).toMatchObject({ contentBlockIndex: 0, delta: { text: 'Hello.' } })
    expect(frames[4]!.data.usage).toMatchObject({ inputTokens: 3, outputTokens: 2, totalTokens: 5 })
    expect(sent()['stream']).toBe(true)
  })

  test('ends a stream that breaks off with an exception', async () => {
    upstream.script = streaming(HALF + sse({ type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } }))
    const frames = await framesOf(at('m', 'converse-stream'), { messages: TURNS })
    expect(names(frames)).toEqual(['messageStart', 'contentBlockDelta', 'serviceUnavailableException'])
    expect(frames[2]).toMatchObject({ kind: 'exception', data: { message: 'Busy.' } })
  })

  test('sends a frame in silence, before and within an answer', async () => {
    upstream.script = async response => {
      await new Promise(resolve => setTimeout(resolve, 800))
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(HALF)
      await new Promise(resolve => setTimeout(resolve, 800))
      response.end(REST)
    }
    const frames = names(await framesOf(at('m', 'converse-stream'), { messages: TURNS }))
    expect(frames[0]).toBe('ping')
    expect(frames.lastIndexOf('ping')).toBeGreaterThan(frames.indexOf('contentBlockDelta'))
    expect(frames.at(-1)).toBe('metadata')
  })

  test('counts tokens', async () => {
    const { json: counted } = await gateway.ask(at('m', 'count-tokens'), { input: { converse: { messages: TURNS } } })
    expect(counted).toEqual({ inputTokens: 7 })
  })

  test.each([
    ['an unknown key', 'converse', { messages: TURNS }, { authorization: 'Bearer nobody' }, 401, 'UnrecognizedClient'],
    ['an unknown operation', 'conversation', { messages: TURNS }, {}, 404, 'ResourceNotFound'],
    ['a faulty body', 'converse', { messages: [{ role: 'user', content: 'Hi' }] }, {}, 400, 'Validation'],
    ['a faulty count', 'count-tokens', { input: {} }, {}, 400, 'Validation'],
    ['a faulty body to count', 'count-tokens', { input: { invokeModel: { body: '?' } } }, {}, 400, 'Validation'],
    ['a faulty body', 'invoke', { messages: 1, max_tokens: 1 }, {}, 400, 'Validation'],
  ])('refuses %s of %s in the form of AWS', async (_, method, body, headers, status, exception) => {
    const answer = await gateway.ask(at('m', method), body, { headers: headers as never })
    expect(answer.status, answer.text).toBe(status)
    expect(answer.headers['x-amzn-errortype']).toBe(`${exception}Exception`)
    expect(answer.json.message).toMatch(/\w/)
  })

  test('refuses another method', async () => {
    const { status, headers } = await gateway.ask(at('m', 'converse'), undefined, { method: 'GET' })
    expect([status, headers['allow'], headers['x-amzn-errortype']]).toEqual([405, 'POST', 'MethodNotAllowedException'])
  })
})

describe('a signed request', () => {
  const signed = (key: string, scope = '20261128/us-east-1/bedrock/aws4_request') => ({
    authorization: `AWS4-HMAC-SHA256 Credential=${key}/${scope}, SignedHeaders=host;x-amz-date, Signature=${'0'.repeat(64)}`,
  })

  test('is authorised by its access key id', async () => {
    const answer = await gateway.ask(at('m', 'converse'), { messages: TURNS }, { headers: signed(KEY) })
    expect(answer.status, answer.text).toBe(200)
  })

  test.each([
    ['with an unknown key', signed('nobody')],
    ['with an incomplete scope', signed(KEY, 'aws4_request')],
    ['without a key', signed('')],
    ['that names many keys', { authorization: `AWS4-HMAC-SHA256 ${'Credential='.repeat(1000)}` }],
  ])('%s is refused', async (_, headers) => {
    expect((await gateway.ask(at('m', 'converse'), { messages: TURNS }, { headers })).status).toBe(401)
  })
})

describe('InvokeModel', () => {
  test('have the beta features of the body and those of the header, as Claude Code names them', async () => {
    const body = { ...CLAUDE, anthropic_beta: ['interleaved-thinking-2025-05-14', 'tool-search-tool-2025-10-19'] }
    const headers = { 'anthropic-beta': 'claude-code-20250219,effort-2025-11-24' }
    await gateway.ask(at(ARN, 'invoke'), body, { headers })
    expect(String(upstream.seen[0]!.headers['anthropic-beta']).split(',').toSorted()).toEqual([
      ...['claude-code-20250219', 'effort-2025-11-24'],
      ...['interleaved-thinking-2025-05-14', 'tool-search-tool-2025-10-19'],
    ])
  })

  test('takes a messages body without model and stream', async () => {
    const answer = await gateway.ask(at(ARN, 'invoke'), { ...CLAUDE, anthropic_beta: ['context-1m-2025-08-07'] })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.json).toMatchObject({ type: 'message', content: MESSAGE.content })
    expect(sent()).toEqual({ model: ARN, max_tokens: 9, messages: CLAUDE.messages })
    expect(upstream.seen.at(-1)!.headers['anthropic-version']).toBe('2023-06-01')
  })

  test('streams the events of messages in frames', async () => {
    upstream.script = streaming(HALF + REST)
    const frames = await framesOf(at('m', 'invoke-with-response-stream'), CLAUDE)
    expect(new Set(names(frames))).toEqual(new Set(['chunk']))
    expect(chunks(frames).map(({ type }) => type)).toEqual([
      ...['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop'],
      ...['message_delta', 'message_stop'],
    ])
    expect(sent()['stream']).toBe(true)
  })

  test('ends a stream that breaks off with an exception, and without an end of the message', async () => {
    for (const end of [sse({ type: 'error', error: { type: 'api_error', message: 'It broke.' } }), '']) {
      upstream.script = streaming(HALF + end)
      const frames = await framesOf(at('m', 'invoke-with-response-stream'), CLAUDE)
      expect(frames.at(-1)).toMatchObject({ kind: 'exception', name: 'modelStreamErrorException' })
      expect(frames.at(-1)!.data.message).toMatch(/\w/)
      expect(chunks(frames).map(({ type }) => type)).toEqual([
        ...['message_start', 'content_block_start', 'content_block_delta'],
      ])
    }
  })

  test('passes an error on in the form of AWS', async () => {
    upstream.script = response => {
      response.writeHead(429, { 'content-type': 'application/json' })
      response.end('{"type":"error","error":{"type":"rate_limit_error","message":"Slow down."}}')
    }
    for (const method of ['invoke', 'invoke-with-response-stream']) {
      const { status, headers, json: body } = await gateway.ask(at('m', method), CLAUDE)
      expect([status, headers['x-amzn-errortype'], body]).toEqual([
        ...[429, 'ThrottlingException', { message: 'Slow down.' }],
      ])
    }
  })

  test('counts tokens', async () => {
    const body = Buffer.from(JSON.stringify(CLAUDE)).toString('base64')
    const answer = await gateway.ask(at(ARN, 'count-tokens'), { input: { invokeModel: { body } } })
    expect(answer.json).toEqual({ inputTokens: 7 })
    expect(upstream.seen.at(-1)!.url).toBe('/v1/messages/count_tokens')
    expect(sent()).toEqual({ model: ARN, messages: CLAUDE.messages })
  })
})
