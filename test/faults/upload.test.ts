import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { fetch, request } from 'undici'
import { describe, expect, test } from 'vitest'
import { ANSWER, ASK, json } from '../builders/chat.ts'
import { KEY, type TestServerOptions } from '../builders/config.ts'
import type { TestServer } from '../builders/gateway.ts'
import { opener } from '../builders/opener.ts'
import { TIMED } from '../builders/time.ts'

const { closing, open: openBefore } = opener()

const open = (options: TestServerOptions = {}) => openBefore(response => json(response, ANSWER), options)

const HEADERS = { authorization: `Bearer ${KEY}`, 'anthropic-version': '2023-06-01' }
const JSON_BODY = { ...HEADERS, 'content-type': 'application/json' }
const FORM = { ...HEADERS, 'content-type': 'multipart/form-data; boundary=x' }

const MIB = 2 ** 20
const LARGE = Buffer.from(`{"model":"m","messages":[{"role":"user","content":"${'x'.repeat(12 * MIB)}"}]}`)
const field = (index: number): string => `--x\r\ncontent-disposition: form-data; name="f${index}"\r\n\r\nv\r\n`
const MANY_FIELDS = Buffer.from(`${Array.from({ length: 100_000 }, (_, index) => field(index)).join('')}--x--\r\n`)

async function* pieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
}

const CLIENTS: [string, (url: string, headers: object, body: Buffer) => Promise<[number, string]>][] = [
  [
    'undici fetch',
    async (url, headers, body) => {
      const answer = await fetch(url, { method: 'POST', headers: { ...headers }, body })
      return [answer.status, await answer.text()]
    },
  ],
  [
    'undici fetch of a stream',
    async (url, headers, body) => {
      const answer = await fetch(url, { method: 'POST', headers: { ...headers }, body: pieces(body), duplex: 'half' })
      return [answer.status, await answer.text()]
    },
  ],
  [
    'undici request',
    async (url, headers, body) => {
      const answer = await request(url, { method: 'POST', headers: { ...headers }, body: Readable.from(pieces(body)) })
      return [answer.statusCode, await answer.body.text()]
    },
  ],
]

describe.each(CLIENTS)('%s reads the refusal of what it still sends', (_, ask) => {
  test.each<[string, string, object, Buffer, number, string]>([
    ['a body over the limit', '/v1/messages', JSON_BODY, LARGE, 413, 'request_too_large'],
    ['a form of 100,000 fields', '/v1/images/edits', FORM, MANY_FIELDS, 400, 'too many parts'],
    ['a form where none may come', '/v1/messages', FORM, MANY_FIELDS, 400, 'not a form'],
    ['a body without a key', '/v1/messages', { 'content-type': 'application/json' }, LARGE, 401, 'No API key'],
    ['a body to nowhere', '/v1/nowhere', JSON_BODY, LARGE, 404, 'There is nothing'],
  ])('%s', async (_, path, headers, body, status, words) => {
    const { testServer } = await open({ body: 4 * MIB })
    const [said, text] = await ask(`${testServer.server.address}${path}`, headers, body)
    expect(said).toBe(status)
    expect(text).toContain(words)
    expect((await testServer.ask('/v1/chat/completions', ASK)).status).toBe(200)
  })
})

/** Sends the whole body before it reads, as Python's http.client does, in a number of chunks with pauses. */
async function sendFirst(
  testServer: TestServer,
  head: string,
  body: Buffer,
  count: number,
  pause: number,
): Promise<string> {
  const socket = connect(Number(new URL(testServer.server.address).port), '127.0.0.1').pause()
  closing.push(() => socket.destroy())
  const broken = new Promise<never>((_, reject) => socket.on('error', reject))
  broken.catch(() => {})
  const send = (piece: string | Buffer) => Promise.race([broken, new Promise(resolve => socket.write(piece, resolve))])
  await send(head)
  const size = Math.ceil(body.length / count)
  for (let at = 0; at < body.length; at += size) {
    await send(body.subarray(at, at + size))
    await new Promise(resolve => setTimeout(resolve, pause))
  }
  let text = ''
  socket.on('data', piece => (text += piece)).resume()
  await Promise.race([broken, new Promise(resolve => socket.on('end', resolve))])
  return text
}

const headOf = (path: string, length: number, more = ''): string =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${KEY}\r\nanthropic-version: 2023-06-01\r\n` +
  `${more}content-length: ${length}\r\n\r\n`

describe('who sends all before it reads', () => {
  test('has its answer, however long that takes', async () => {
    const { testServer } = await open({ body: 4 * MIB })
    const text = await sendFirst(testServer, headOf('/v1/messages', LARGE.length), LARGE, 20, 100)
    expect(text).toMatch(/^HTTP\/1\.1 413 /)
    expect(text).toContain('connection: close')
    expect(text).toContain('request_too_large')
  })

  test('has it for a form that was refused in the middle', async () => {
    const { testServer } = await open()
    const head = headOf('/v1/images/edits', MANY_FIELDS.length, 'content-type: multipart/form-data; boundary=x\r\n')
    const text = await sendFirst(testServer, head, MANY_FIELDS, 20, 100)
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    expect(text).toContain('too many parts')
  })

  test('has it where the headers were too large already', async () => {
    const { testServer } = await open()
    const head = headOf('/v1/messages', LARGE.length, `x-a: ${'a'.repeat(40_000)}\r\n`)
    const text = await sendFirst(testServer, head, LARGE, 20, 100)
    expect(text).toMatch(/^HTTP\/1\.1 431 /)
    expect(text).toContain('request_too_large')
  })

  test('and falls silent, is let go', TIMED, async () => {
    const { testServer } = await open({ body: 4 * MIB })
    const began = Date.now()
    const text = await sendFirst(testServer, headOf('/v1/messages', 2 * LARGE.length), LARGE, 2, 0)
    expect(text).toMatch(/^HTTP\/1\.1 413 /)
    expect(Date.now() - began).toBeLessThan(10_000)
  })
})

describe('a body of as many fields as fit', () => {
  const wide = { ...ASK, ...Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`f${index}`, index])) }

  test('is passed on where its format is spoken', async () => {
    const { testServer, upstream } = await open()
    expect((await testServer.ask('/v1/chat/completions', wide)).status).toBe(200)
    expect(Object.keys(JSON.parse(upstream.seen[0]!.text))).toHaveLength(200_002)
  })

  test('is translated elsewhere, with all of them told as lost', async () => {
    const { testServer } = await open()
    const answer = await testServer.ask('/v1/messages', { ...wide, max_tokens: 5 }, { headers: HEADERS })
    expect(answer.status).toBe(200)
    expect(answer.headers['interlingua-loss-count']).toBe('200000')
  })
})
