import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { ANSWER, ASK, failure, STREAM } from '../builders/chat.ts'
import { KEY } from '../builders/config.ts'
import { opener } from '../builders/opener.ts'
import { CHAT_PATH } from '../builders/paths.ts'

const { open } = opener()
const ENDS = 'data: [DONE]\n\n'
/** Returns the text of an answer, whole or streamed. */
const saidIn = (text: string): string =>
  [...text.matchAll(/"content":"((?:[^"\\]|\\.)*)"/g)].map(([, words]) => words).join('')

const TYPES = [
  undefined,
  '',
  'application/json',
  'text/event-stream',
  'text/plain',
  'TEXT/HTML',
  'application/octet-stream',
]
const FORMATS = ['chat', 'messages', 'responses', 'contents']
const bodyOf = (format: string, kind: 'result.json' | 'events.sse') =>
  readFileSync(`fixtures/${format}/hello.${kind}`, 'utf8')
const typed = (response: ServerResponse, type: string | undefined): ServerResponse =>
  response.writeHead(200, type === undefined ? {} : { 'content-type': type })

describe.each(FORMATS)('an answer of %s under any content type', format => {
  describe.each(['result.json', 'events.sse'] as const)('that is %s', kind => {
    test.each(TYPES)('called %s', async type => {
      const body = bodyOf(format, kind)
      const { testServer } = await open(response => typed(response, type).end(body), {}, { format })
      const { testServer: plain } = await open(
        response => typed(response, 'application/json').end(bodyOf(format, 'result.json')),
        {},
        { format },
      )
      const right = (await plain.ask(CHAT_PATH, ASK)).json.choices[0].message.content
      const whole = await testServer.ask(CHAT_PATH, ASK)
      expect([whole.status, whole.json?.choices?.[0].message.content]).toEqual([200, right])
      const streamed = await testServer.ask(CHAT_PATH, STREAM)
      expect([streamed.status, saidIn(streamed.text)]).toEqual([200, right])
      expect(streamed.text.endsWith(ENDS)).toBe(true)
    })
  })
})

const BOM = '\ufeff'
const PIECES: readonly (readonly [string, readonly (string | Buffer)[]])[] = [
  ['with a byte order mark', [BOM, JSON.stringify(ANSWER)]],
  ['with a mark cut in two', [Buffer.from([0xef]), Buffer.from([0xbb, 0xbf]), JSON.stringify(ANSWER)]],
  ['after blank lines, as some upstreams send while they think', ['\n', '\r\n', '\n \t', JSON.stringify(ANSWER)]],
  ['after very many of them', ['\n'.repeat(6000), JSON.stringify(ANSWER)]],
]

describe('JSON', () => {
  test.each(PIECES)('%s', async (_, pieces) => {
    const { testServer } = await open(async response => {
      response.writeHead(200, { 'content-type': 'application/json' })
      for (const piece of pieces) await new Promise(resolve => response.write(piece, () => setTimeout(resolve, 10)))
      response.end()
    })
    expect((await testServer.ask(CHAT_PATH, ASK)).json).toEqual(ANSWER)
    expect(saidIn((await testServer.ask(CHAT_PATH, STREAM)).text)).toBe('Hello.')
  })
})

test('a stream of Google that came as a list', async () => {
  const events = [...bodyOf('contents', 'events.sse').matchAll(/^data: (.*)$/gm)].map(([, data]) => data)
  const { testServer } = await open(
    response => typed(response, 'application/json').end(`[${events.join(',\r\n')}]`),
    {},
    { format: 'contents' },
  )
  const { testServer: plain } = await open(
    response => typed(response, 'text/event-stream').end(bodyOf('contents', 'events.sse')),
    {},
    { format: 'contents' },
  )
  const right = saidIn((await plain.ask(CHAT_PATH, STREAM)).text)
  expect(right).not.toBe('')
  expect(saidIn((await testServer.ask(CHAT_PATH, STREAM)).text)).toBe(right)
  expect(saidIn((await testServer.ask(CHAT_PATH, ASK)).text)).toBe(right)
})

test('comments before an event stream, and its first line cut', async () => {
  const [first, rest] = [': keep-alive\n\n', bodyOf('chat', 'events.sse')]
  const { testServer } = await open(response => {
    response.writeHead(200).write(first)
    setTimeout(() => response.write(rest.slice(0, 3)), 10)
    setTimeout(() => response.end(rest.slice(3)), 20)
  })
  for (const body of [ASK, STREAM]) expect((await testServer.ask(CHAT_PATH, body)).status).toBe(200)
})

describe('an encoding', () => {
  const said = JSON.stringify(ANSWER)
  test.each([
    ['that is not told', {}, gzipSync(said)],
    ['that is none', { 'content-encoding': 'gzip' }, Buffer.from(said)],
    ['that is another', { 'content-encoding': 'identity' }, gzipSync(said)],
    ['deflate that is none', { 'content-encoding': 'deflate' }, Buffer.from(said)],
    ['deflate that is one', { 'content-encoding': 'deflate' }, deflateSync(said)],
  ])('%s', async (_, headers, body) => {
    const { testServer } = await open(response =>
      response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body),
    )
    expect((await testServer.ask(CHAT_PATH, ASK)).json).toEqual(ANSWER)
    expect(saidIn((await testServer.ask(CHAT_PATH, STREAM)).text)).toBe('Hello.')
  })
})

describe('an error', () => {
  const error = JSON.stringify(failure('Wrong temperature.', { type: 'invalid_request_error', param: 'temperature' }))
  test.each([
    ['with a byte order mark', 'application/json', BOM + error],
    ['as an event', 'text/event-stream', `event: error\ndata: ${error}\n\n`],
    ['as an event called JSON', 'application/json', `data: ${error}\n\n`],
    ['called a text', 'text/plain', error],
  ])('%s is told', async (_, type, body) => {
    const { testServer } = await open(response => response.writeHead(400, { 'content-type': type }).end(body))
    for (const asked of [ASK, STREAM]) {
      const { status, json } = await testServer.ask(CHAT_PATH, asked)
      expect([status, json.error.message, json.error.param]).toEqual([400, 'Wrong temperature.', 'temperature'])
    }
  })

  test.each(TYPES)('under status 200, called %s, is one', async type => {
    const { testServer } = await open(response => typed(response, type).end(error))
    for (const asked of [ASK, STREAM]) {
      const { status, json } = await testServer.ask(CHAT_PATH, asked)
      expect([status, json.error.message]).toEqual([400, 'Wrong temperature.'])
    }
  })
})

test.each([
  ['a page', '<html><body>Bad gateway</body></html>', 'text/html'],
  ['nothing', '', 'application/json'],
  ['nothing of a stream', '', 'text/event-stream'],
  ['blanks', '   \n', 'text/plain'],
  ['a word', 'null', 'application/json'],
  ['an empty list', '[]', 'application/json'],
  ['a list of lists', '[[[]]]', 'application/json'],
  ['half an object', '{"id":', 'application/json'],
])('%s is no answer', async (_, body, type) => {
  for (const format of [...FORMATS, 'embeddings']) {
    const { testServer } = await open(response => typed(response, type).end(body), {}, { format })
    const [path, asked] = format === 'embeddings' ? ['/v1/embeddings', { model: 'm', input: 'a' }] : [CHAT_PATH, ASK]
    expect((await testServer.ask(path, asked)).status).toBe(502)
    if (format !== 'embeddings') expect((await testServer.ask(path, STREAM)).status).toBe(502)
  }
})

test('a transcript that begins like JSON or an event is the text it was asked for as', async () => {
  const boundary = 'edge'
  const field = (name: string, value: string): string =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const form =
    `${field('model', 'm')}${field('response_format', 'text')}--${boundary}\r\ncontent-disposition: form-data; ` +
    `name="file"; filename="a.wav"\r\ncontent-type: audio/wav\r\n\r\nRIFF\r\n--${boundary}--\r\n`
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, authorization: `Bearer ${KEY}` }
  for (const text of ['{ he said', 'data: the thing itself', '[music]']) {
    const { testServer } = await open(
      response => typed(response, 'text/plain').end(text),
      {},
      { format: 'transcriptions' },
    )
    expect((await testServer.ask('/v1/audio/transcriptions', form, { headers })).text).toBe(text)
  }
})
