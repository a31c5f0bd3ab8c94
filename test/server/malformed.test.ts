import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { Gateway } from '../../src/gateway/index.ts'
import { readJson } from '../../src/ingress/transport/body.ts'
import { refusingMalformed } from '../../src/server/malformed.ts'
import { ANSWER, ASK, helloWhole, json } from '../builders/chat.ts'
import { KEY } from '../builders/config.ts'
import type { TestServer } from '../builders/gateway.ts'
import { opener } from '../builders/opener.ts'
import { until } from '../builders/time.ts'
import type { Script } from '../builders/upstream.ts'

const { closing, open } = opener()

/** A connection, and everything received over it. */
class Line {
  text = ''
  closed = false
  readonly socket: Socket

  constructor(testServer: TestServer) {
    this.socket = connect(Number(new URL(testServer.server.address).port), '127.0.0.1')
    this.socket.setEncoding('latin1')
    this.socket.on('data', piece => (this.text += piece))
    this.socket.on('error', () => {})
    this.socket.on('close', () => (this.closed = true))
    closing.push(() => this.socket.destroy())
  }

  async all(): Promise<Answer[]> {
    await until(() => this.closed)
    return answersIn(this.text)
  }
}

interface Answer {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many shapes
  readonly json: any
}

/** Returns the answers on a connection, cut by their lengths. A rest is not an answer. */
function answersIn(text: string): Answer[] {
  const answers: Answer[] = []
  for (let left = text; left !== ''; ) {
    const end = left.indexOf('\r\n\r\n')
    const [line, ...fields] = left.slice(0, end).split('\r\n')
    const lower: Record<string, string> = {}
    for (const field of fields) lower[field.split(': ', 1)[0]!.toLowerCase()] = field.slice(field.indexOf(': ') + 2)
    const length = Number(lower['content-length'])
    answers.push({
      status: Number(line!.split(' ')[1]),
      headers: lower,
      json: JSON.parse(left.slice(end + 4, end + 4 + length)),
    })
    left = left.slice(end + 4 + length)
  }
  return answers
}

async function refusal(text: string): Promise<Answer> {
  const { testServer } = await open(helloWhole)
  const line = new Line(testServer)
  line.socket.write(Buffer.from(text, 'latin1'))
  const answers = await line.all()
  expect(answers).toHaveLength(1)
  expect(answers[0]!.headers['x-request-id']).toMatch(/^req_/)
  expect(answers[0]!.headers['request-id']).toBe(answers[0]!.headers['x-request-id'])
  expect(answers[0]!.headers['connection']).toBe('close')
  return answers[0]!
}

const HEAD = 'HTTP/1.1\r\nhost: x\r\n'
const LONG = 'x'.repeat(40_000)

describe('what is no HTTP is refused in the format of its path', () => {
  const openai = (status: number) => ({ status, json: { error: { message: expect.any(String), code: null } } })
  const messages = (status: number, type = 'invalid_request_error') => ({
    status,
    json: { type: 'error', error: { type, message: expect.any(String) }, request_id: expect.stringMatching(/^req_/) },
  })
  const contents = (code: number) => ({
    status: code,
    json: { error: { code, status: 'INVALID_ARGUMENT', message: expect.any(String) } },
  })

  test.each([
    ['no request at all', 'nonsense\r\n\r\n', openai(400)],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', openai(400)],
    ['a bad header', `POST /v1/chat/completions ${HEAD}bad header\r\n\r\n`, openai(400)],
    ['a bad header of messages', `POST /v1/messages?beta=true ${HEAD}bad header\r\n\r\n`, messages(400)],
    ['a bad value', `POST /v1beta/models/m:generateContent ${HEAD}x-a: \x01\r\n\r\n`, contents(400)],
    ['a bad method', `FETCH /v1/messages ${HEAD}\r\n`, messages(400)],
    ['a bad version', 'GET /v1/messages HTTP/3.0\r\n\r\n', messages(400)],
    ['lines without a return', 'POST /v1/messages HTTP/1.1\nhost: x\n\n', messages(400)],
    ['no host', 'POST /v1beta/models/m:generateContent HTTP/1.1\r\n\r\n', contents(400)],
    ['a length that is none', `POST /v1/messages ${HEAD}content-length: ten\r\n\r\n`, messages(400)],
    [
      'two lengths',
      `POST /v1/messages ${HEAD}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      messages(400),
    ],
    ['headers too large', `POST /v1/messages ${HEAD}x-a: ${LONG}\r\n\r\n`, messages(431, 'request_too_large')],
    ['a path too large', `POST /v1/messages?${LONG} ${HEAD}\r\n`, messages(431, 'request_too_large')],
    ['the same of contents', `POST /v1beta/models/m:countTokens?${LONG} ${HEAD}\r\n`, contents(431)],
    ['another way to be used', 'CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n', { status: 405 }],
  ])('%s', async (_, text, want) => {
    expect(await refusal(text)).toMatchObject(want)
  })

  test('an expectation nobody meets', async () => {
    const { testServer } = await open(helloWhole)
    const answer = await testServer.ask('/v1/messages', '', { headers: { expect: 'wonders' } })
    expect(answer).toMatchObject({ status: 417, json: { type: 'error', error: { type: 'invalid_request_error' } } })
  })

  test('a socket asked for wrongly', async () => {
    const key = 'sec-websocket-key: short\r\nsec-websocket-version: 13\r\n'
    const upgrade = `upgrade: websocket\r\nconnection: upgrade\r\nauthorization: Bearer ${KEY}\r\n`
    const answer = await refusal(`GET /v1/responses ${HEAD}${upgrade}${key}\r\n`)
    expect(answer).toMatchObject({ status: 400, json: { error: { message: expect.stringContaining('Key') } } })
  })

  test('quotes no secret', async () => {
    const secret = 'il-very-secret'
    const { testServer } = await open(helloWhole)
    for (const text of [
      `POST /v1/messages?key=${secret} HTTP/9.9\r\n\r\n`,
      `POST /v1/messages ${HEAD}x-api-key: ${secret}\x01\r\n\r\n`,
      `POST /v1/messages?key=${secret}${LONG} ${HEAD}\r\n`,
    ]) {
      const line = new Line(testServer)
      line.socket.write(Buffer.from(text, 'latin1'))
      expect(await line.all()).toHaveLength(1)
      expect(line.text).not.toContain(secret)
    }
    expect(JSON.stringify(testServer.lines)).not.toContain(secret)
  })
})

describe('a body that is not framed as it says', () => {
  const chunked = (path: string, type = 'application/json') =>
    `POST ${path} ${HEAD}authorization: Bearer ${KEY}\r\nanthropic-version: 2023-06-01\r\ncontent-type: ${type}\r\n` +
    'transfer-encoding: chunked\r\n\r\n'

  test.each([
    ['/v1/messages', 'application/json', { type: 'error', error: { type: 'invalid_request_error' } }],
    ['/v1beta/models/m:generateContent', 'application/json', { error: { status: 'INVALID_ARGUMENT' } }],
    ['/v1/audio/transcriptions', 'multipart/form-data; boundary=x', { error: { type: 'invalid_request_error' } }],
    ['/v1/conversations', 'application/json', { error: { type: 'invalid_request_error' } }],
  ])('is refused by the request it is of: %s', async (path, type, body) => {
    const { testServer } = await open(helloWhole)
    const line = new Line(testServer)
    line.socket.write(`${chunked(path, type)}5\r\n{"a":\r\n`)
    await new Promise(resolve => setTimeout(resolve, 50))
    line.socket.write('zz\r\nmore')
    const answers = await line.all()
    expect(answers).toHaveLength(1)
    expect(answers[0]).toMatchObject({ status: 400, headers: { connection: 'close' }, json: body })
  })

  test('whether it comes at once, or nobody reads it', async () => {
    const { testServer } = await open(helloWhole)
    for (const [text, status] of [
      [`${chunked('/v1/messages')}zz\r\n`, 400],
      [`${chunked('/v1/nowhere')}zz\r\n`, 404],
      [chunked('/v1/messages').replace('chunked', 'gzip'), 400],
      [`${chunked('/v1/messages')}1;${LONG}\r\n`, 413],
    ] as const) {
      const line = new Line(testServer)
      line.socket.write(text)
      expect((await line.all()).map(answer => answer.status)).toEqual([status])
    }
    expect((await testServer.ask('/v1/chat/completions', ASK)).status).toBe(200)
  })
})

describe('requests behind each other on one connection', () => {
  const chat = (): string => {
    const body = JSON.stringify(ASK)
    return `POST /v1/chat/completions ${HEAD}authorization: Bearer ${KEY}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  }

  test('have their answers in their order, with the refusal of a broken one last', async () => {
    const slow: Script = response => setTimeout(() => json(response, ANSWER), 150)
    const { testServer } = await open(slow)
    const line = new Line(testServer)
    line.socket.write(`${chat()}GET /healthz ${HEAD}\r\nPOST /v1/messages ${HEAD}bad header\r\n\r\n${chat()}`)
    await new Promise(resolve => setTimeout(resolve, 50))
    line.socket.write('and more of it')
    const answers = await line.all()
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400])
    expect(answers[0]!.json.choices[0].message.content).toBe('Hello.')
    expect(answers[1]!.json.status).toBe('ok')
    expect(answers[2]!.json.type).toBe('error')
  })

  test('have them too where one asks for a socket', async () => {
    const slow: Script = response => setTimeout(() => json(response, ANSWER), 100)
    const { testServer } = await open(slow)
    const line = new Line(testServer)
    const upgrade = 'upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\n'
    line.socket.write(`${chat()}GET /v1/responses ${HEAD}${upgrade}sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`)
    expect((await line.all()).map(({ status }) => status)).toEqual([200, 400])
  })

  test('take nothing with them that was only broken off', async () => {
    const { testServer } = await open(helloWhole)
    const line = new Line(testServer)
    line.socket.end(`GET /healthz ${HEAD}\r\nPOST /v1/messages ${HEAD}x-a: b`)
    const answers = await line.all()
    expect(answers.map(({ status }) => status)).toEqual([200, 400])
  })
})

test('an address may be written whole, as for a proxy', async () => {
  const { testServer } = await open(helloWhole)
  const line = new Line(testServer)
  const body = '{"contents":[]}'
  const path = 'http://gateway.example/v1beta/models/nobody:generateContent'
  line.socket.write(
    `POST ${path} ${HEAD}authorization: Bearer ${KEY}\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  expect(await line.all()).toMatchObject([{ status: 404, json: { error: { code: 404, status: 'NOT_FOUND' } } }])
})

test('a body that ends early is told to a reader that comes later', async () => {
  const read = Promise.withResolvers<unknown>()
  const server = createServer((message, response) => {
    // As if the limits of a key were looked up before the body is read.
    setTimeout(() => {
      readJson(message, 1000)
        .catch(thrown => read.resolve(thrown))
        .finally(() => response.end())
    }, 100)
  })
  server.on('clientError', refusingMalformed({} as Gateway))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {}).resume()
  socket.end('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n{"a"')
  expect(await read.promise).toMatchObject({ error: { kind: 'cancelled' } })
  server.close()
})
