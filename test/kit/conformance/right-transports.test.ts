import { createServer, type Socket } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { send } from '../../../src/kit/conformance/client.ts'
import { closingAfterEach } from '../../builders/closing.ts'

/* A right target that frames, cuts or compresses its answers otherwise is read the same. */

const closing = closingAfterEach()
const BODY = Buffer.from('{"text":"naïve 😀 日本語"}\n'.repeat(20))

type Framing = (body: Buffer, sizes: readonly number[]) => readonly [headers: string, body: Buffer]

/** Returns the body cut into pieces of these sizes. */
function* cut(body: Buffer, sizes: readonly number[]): Generator<Buffer> {
  for (let at = 0, index = 0; at < body.length; index++) {
    const size = sizes[index % sizes.length]!
    yield body.subarray(at, at + size)
    at += size
  }
}

const chunked = (body: Buffer, sizes: readonly number[], extension = '', trailer = ''): Buffer =>
  Buffer.concat([
    ...[...cut(body, sizes)].flatMap(one => [
      Buffer.from(`${one.length.toString(16)}${extension}\r\n`),
      one,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`0${extension}\r\n${trailer}\r\n`),
  ])

const FRAMINGS: { readonly [name: string]: Framing } = {
  'a length': body => [`Content-Length: ${body.length}`, body],
  'a length in lower case': body => [`content-length:${body.length}`, body],
  chunks: (body, sizes) => ['Transfer-Encoding: chunked', chunked(body, sizes)],
  'chunks with extensions and trailers': (body, sizes) => [
    'transfer-encoding: Chunked\r\nTrailer: x-late',
    chunked(body, sizes, ';a=b', 'x-late: 1\r\n'),
  ],
  'the end of the connection': body => ['Connection: close', body],
  'a connection that stays open': body => [`Connection: keep-alive\r\nContent-Length: ${body.length}`, body],
}

const ENCODINGS: { readonly [name: string]: readonly [header: string, encode: (body: Buffer) => Buffer] } = {
  none: ['', body => body],
  identity: ['identity', body => body],
  'an unknown one': ['utf-8', body => body],
  gzip: ['gzip', body => gzipSync(body)],
  'x-gzip': ['X-GZIP', body => gzipSync(body)],
  deflate: ['deflate', body => deflateSync(body)],
  'deflate without a head': ['deflate', body => deflateRawSync(body)],
  br: ['br', body => brotliCompressSync(body)],
  zstd: ['zstd', body => zstdCompressSync(body)],
  'two encodings': ['deflate, gzip', body => gzipSync(deflateSync(body))],
}

const HEADS: { readonly [name: string]: string } = {
  'HTTP/1.1': 'HTTP/1.1 200 OK',
  'HTTP/1.1 without a reason': 'HTTP/1.1 200',
  'early hints': 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK',
  'an uncalled-for 100': 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK',
}

const oneOf = <T>(table: { readonly [name: string]: T }) => fc.constantFrom(...Object.keys(table))

async function serve(answer: Buffer, host: string, sizes: readonly number[]): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', async () => {
      for (const piece of cut(answer, sizes)) {
        socket.write(piece)
        if (sizes.length > 1) await new Promise(setImmediate)
      }
      if (!answer.includes('keep-alive')) socket.end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, host, resolve))
  closing.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = server.address() as { readonly port: number }
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`
}

test('an answer is read the same however it is framed, cut and compressed', async () => {
  const sizes = fc.array(fc.integer({ min: 7, max: 200 }), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(
      ...([
        oneOf(HEADS),
        oneOf(FRAMINGS),
        oneOf(ENCODINGS),
        sizes,
        sizes,
        fc.constantFrom('127.0.0.1', '::1'),
      ] as const),
      async (head, framing, encoding, chunks, pieces, host) => {
        const [type, encode] = ENCODINGS[encoding]!
        const [headers, body] = FRAMINGS[framing]!(encode(BODY), chunks)
        const all = `${HEADS[head]}\r\nContent-Type: application/json\r\n${type && `Content-Encoding: ${type}\r\n`}${headers}`
        const at = await serve(Buffer.concat([Buffer.from(`${all}\r\n\r\n`), body]), host, pieces)
        const { got, fault } = await send({ method: 'POST', url: at, headers: {}, body: Buffer.from('{}') })
        expect(fault).toBeUndefined()
        expect([got?.status, got?.isComplete, got?.body.toString('utf8')]).toEqual([200, true, BODY.toString('utf8')])
      },
    ),
    { numRuns: Number(process.env['RUNS'] ?? 60) },
  )
})
