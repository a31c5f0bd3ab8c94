import type { IncomingMessage } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { TestServer } from '../../builders/gateway.ts'
import { opener } from '../../builders/opener.ts'
import { deadAddress } from '../../builders/upstream.ts'
import { answerOf, type Came, WireUpstream } from '../../builders/wire-upstream.ts'
import { channelFor, EACH, type EndpointRow, headersOf, STREAMED, type StreamPieces } from './exchanges.ts'

/* Connections to upstreams that break, drip, lie about their lengths, or are packed, at every endpoint. */

const { closing, openGateway } = opener()

async function openWire(answer: (came: Came) => void): Promise<WireUpstream> {
  const upstream = await WireUpstream.open(answer)
  closing.push(() => upstream.close())
  return upstream
}

const bytesOf = async (answer: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of answer) chunks.push(chunk as Buffer)
  } catch {
    // The connection broke.
  }
  return Buffer.concat(chunks)
}

const ask = (gateway: TestServer, row: EndpointRow) => gateway.ask(row.path, row.body, { headers: headersOf(row) })

const streamed = async (gateway: TestServer, row: EndpointRow, { path, body }: StreamPieces) => {
  const answer = await gateway.send(path, body, { headers: headersOf(row) }).answer
  return { status: answer.statusCode!, bytes: await bytesOf(answer) }
}

/** Expects an error in the format of the caller that tells nothing of the upstream. */
function expectFailure(answer: { readonly status: number; readonly text: string; readonly json: unknown }): void {
  expect([502, 503, 504]).toContain(answer.status)
  expect(answer.json).toBeTypeOf('object')
  expect(answer.text).not.toMatch(/secret-channel|upstream-key|127\.0\.0\.1|Hello/)
}

describe.each(EACH)('an upstream of %s', (_, row) => {
  const whole = (text = 'Hello.') => answerOf(JSON.stringify(row.answer(text)))

  test('that breaks at any moment of a whole answer gives an error, and another upstream answers instead', async () => {
    const bytes = whole()
    const headEnd = bytes.indexOf('\r\n\r\n') + 4
    let length = 0
    let isReset = false
    const broken = await openWire(({ socket }) => {
      socket.write(bytes.subarray(0, length), () => (isReset ? socket.resetAndDestroy() : socket.end()))
    })
    const good = await openWire(({ socket }) => socket.end(whole('Second.')))
    const alone = await openGateway([channelFor(row, broken.address)])
    const both = await openGateway([
      channelFor(row, broken.address, { name: 'first' }),
      channelFor(row, good.address, { name: 'second', priority: 1 }),
    ])
    for (isReset of [false, true])
      for (length of [0, 5, headEnd, headEnd + 1, headEnd + 20, bytes.length - 1]) {
        expectFailure(await ask(alone, row))
        const second = await ask(both, row)
        expect([second.status, second.json]).toEqual([200, expect.anything()])
        if (!['embeddings', 'rerank'].includes(row.format)) expect(second.text).toContain('Second.')
      }
  })

  test('that nobody reaches gives an error', async () => {
    const gateway = await openGateway([channelFor(row, await deadAddress())])
    expectFailure(await ask(gateway, row))
  })

  test.each<[string, (body: Buffer) => Buffer]>([
    ['fewer bytes than it says', body => answerOf(body, { 'content-length': `${body.length + 10}` })],
    ['a chunk of no size', body => Buffer.concat([CHUNKED, Buffer.from('zz\r\n'), body])],
    [
      'a chunk without an end',
      body => Buffer.concat([CHUNKED, Buffer.from(`${body.length.toString(16)}\r\n`), body.subarray(0, -5)]),
    ],
    [
      'two lengths',
      body =>
        Buffer.from(
          answerOf(body).toString('latin1').replace('content-length', 'content-length: 1\r\ncontent-length'),
          'latin1',
        ),
    ],
    ['no HTTP', body => Buffer.from(body)],
    [
      'a body whose packed end is missing',
      body => answerOf(gzipSync(body).subarray(0, -6), { 'content-encoding': 'gzip' }),
    ],
  ])('that sends %s gives an error', async (_, bytes) => {
    const upstream = await openWire(({ socket }) =>
      socket.end(bytes(Buffer.from(JSON.stringify(row.answer('Hello.'))))),
    )
    const gateway = await openGateway([channelFor(row, upstream.address)])
    expectFailure(await ask(gateway, row))
  })

  test.each<[string, (body: Buffer) => Buffer]>([
    ['gzip', body => gzipSync(body)],
    ['deflate', body => deflateSync(body)],
    ['br', body => brotliCompressSync(body)],
    ['zstd', body => zstdCompressSync(body)],
  ])('that packs its answer as %s is read, or refused, and never passed on packed', async (encoding, pack) => {
    const upstream = await openWire(({ socket }) =>
      socket.end(answerOf(pack(Buffer.from(JSON.stringify(row.answer('Hello.')))), { 'content-encoding': encoding })),
    )
    const gateway = await openGateway([channelFor(row, upstream.address)])
    const answer = await ask(gateway, row)
    expect(answer.headers['content-encoding']).toBeUndefined()
    if (answer.status === 200)
      expect(answer.json).toMatchObject(row.format === 'rerank' ? { results: expect.anything() } : {})
    else expectFailure(answer)
  })
})

const CHUNKED = Buffer.from('HTTP/1.1 200 Fine\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n')

describe.each(STREAMED)('a stream of %s', (_, row, pieces) => {
  const head = (type = pieces.type) =>
    Buffer.from(`HTTP/1.1 200 Fine\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n`)
  const bytes = Buffer.concat([head(), pieces.head, pieces.word('Hél'), pieces.word('lo 😀'), pieces.tail])

  test('that drips byte by byte says the same', async () => {
    let size = bytes.length
    const upstream = await openWire(async ({ socket }) => {
      for (let at = 0; at < bytes.length; at += size) {
        socket.write(bytes.subarray(at, at + size))
        if (at % 16 === 0) await new Promise(setImmediate)
      }
      socket.end()
    })
    const gateway = await openGateway([channelFor(row, upstream.address)])
    const texts: string[] = []
    for (size of [bytes.length, 7, 1]) {
      const { status, bytes: got } = await streamed(gateway, row, pieces)
      expect(status).toBe(200)
      texts.push(pieces.textIn(got))
    }
    expect(texts).toEqual(['Héllo 😀', 'Héllo 😀', 'Héllo 😀'])
  })

  test('that breaks in its middle is not ended as if it were whole', async () => {
    const whole = await finishOf(bytes)
    for (const end of [
      head().length + pieces.head.length + 10,
      bytes.length - pieces.tail.length,
      bytes.length - pieces.tail.length + 5,
    ]) {
      const cut = await finishOf(bytes.subarray(0, end))
      expect(cut.equals(whole)).toBe(false)
      expect(cut.toString('latin1')).not.toMatch(ENDINGS)
    }
    expect(whole.toString('latin1')).toMatch(ENDINGS)
  })

  /** Returns what the caller gets if the upstream sends only these bytes and resets the connection. */
  async function finishOf(part: Buffer): Promise<Buffer> {
    const upstream = await openWire(({ socket }) =>
      socket.write(part, () => setTimeout(() => socket.resetAndDestroy(), 20)),
    )
    const gateway = await openGateway([channelFor(row, upstream.address)])
    return (await streamed(gateway, row, pieces)).bytes
  }
})

/** Matches the end of a whole stream of any format. */
const ENDINGS = /\[DONE\]|message_stop|"finishReason":"STOP"|end_turn|"COMPLETE"|"status":"completed"/
