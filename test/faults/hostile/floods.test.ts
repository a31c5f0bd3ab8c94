import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { KEY } from '../../builders/config.ts'
import type { TestServer } from '../../builders/gateway.ts'
import { opener } from '../../builders/opener.ts'
import { pause, TIMED, until } from '../../builders/time.ts'
import { MIB } from '../../builders/units.ts'
import { type Came, WireUpstream } from '../../builders/wire-upstream.ts'
import { channelFor, EACH, headersOf, STREAMED } from './exchanges.ts'

/* Upstreams that never end, and callers that take nothing, at every endpoint. */

const { closing, openGateway } = opener()

/** An upstream that writes as fast as the gateway takes it, and counts what was taken. */
class Flood {
  written = 0
  closed = 0
  readonly upstream: WireUpstream

  private constructor(upstream: WireUpstream) {
    this.upstream = upstream
  }

  static async open(head: Buffer, piece: Buffer): Promise<Flood> {
    const flood: Flood = new Flood(await WireUpstream.open(({ socket }: Came) => flood.fill(socket, head, piece)))
    closing.push(() => flood.upstream.close())
    return flood
  }

  private fill(socket: Socket, head: Buffer, piece: Buffer): void {
    socket.on('close', () => this.closed++)
    socket.write(head)
    const more = (): void => {
      while (!socket.destroyed) {
        this.written += piece.length
        if (!socket.write(piece)) break
      }
    }
    socket.on('drain', more)
    more()
  }
}

const headOf = (type: string): Buffer =>
  Buffer.from(`HTTP/1.1 200 Fine\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n`)

/** Sends a request and reads nothing of its answer. */
async function hold(gateway: TestServer, path: string, body: object, headers: object): Promise<Socket> {
  const text = JSON.stringify(body)
  const socket = connect(Number(new URL(gateway.server.address).port), '127.0.0.1')
  socket.on('error', () => {})
  closing.push(() => socket.destroy())
  await new Promise(resolve => socket.once('connect', resolve))
  const lines = Object.entries({
    host: 'x',
    authorization: `Bearer ${KEY}`,
    'content-length': Buffer.byteLength(text),
    ...headers,
  })
  socket.pause()
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`)
  return socket
}

/** Formats whose floods no other test has. */
const FORMATS = ['completions', 'converse', 'cohere-chat', 'interactions', 'rerank']

describe.each(EACH.filter(([format]) => FORMATS.includes(format)))('an answer of %s without end', (_, row) => {
  test('is given up, whether it began as JSON or as blanks', TIMED, async () => {
    for (const head of ['{"id":"', ' ']) {
      const flood = await Flood.open(
        Buffer.concat([headOf('application/json'), Buffer.from(head)]),
        Buffer.alloc(2 * MIB, head === ' ' ? ' ' : '1'),
      )
      const gateway = await openGateway([channelFor(row, flood.upstream.address)])
      const answer = await gateway.ask(row.path, row.body, { headers: headersOf(row) })
      expect(answer.status).toBe(502)
      expect(flood.written).toBeLessThan(200 * MIB)
      await until(() => flood.closed === 1)
    }
  })
})

describe.each(STREAMED.filter(([format]) => FORMATS.includes(format)))(
  'a stream of %s without end',
  (_, row, pieces) => {
    const READERS = 12

    test(
      'is held back at the upstream while its callers take nothing, and given up when they leave',
      TIMED,
      async () => {
        const flood = await Flood.open(
          Buffer.concat([headOf(pieces.type), pieces.head]),
          pieces.word('x'.repeat(64 * 1024)),
        )
        const gateway = await openGateway([channelFor(row, flood.upstream.address)])
        const sockets = await Promise.all(
          Array.from({ length: READERS }, () => hold(gateway, pieces.path, pieces.body, headersOf(row))),
        )
        await until(() => flood.upstream.came.length === READERS)
        for (let before = -1; before !== flood.written; ) {
          before = flood.written
          await pause(300)
        }
        // Buffers of the kernel for two connections, and those of the gateway.
        expect(flood.written / READERS).toBeLessThan(24 * MIB)
        for (const socket of sockets) socket.destroy()
        await until(() => flood.closed === READERS)
      },
    )

    test('of one event is an error, and its upstream is given up', TIMED, async () => {
      const isFrames = pieces.type.includes('eventstream')
      const begin = isFrames ? Buffer.from([0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]) : Buffer.from('data: {"x":"')
      const flood = await Flood.open(Buffer.concat([headOf(pieces.type), pieces.head, begin]), Buffer.alloc(MIB, 'x'))
      const gateway = await openGateway([channelFor(row, flood.upstream.address)])
      const answer = await gateway.ask(pieces.path, pieces.body, { headers: headersOf(row) })
      expect(answer.text).not.toContain('xxxxxxxx')
      expect(flood.written).toBeLessThan(100 * MIB)
      await until(() => flood.closed === 1)
    })

    test('of comments and empty events holds no memory, and ends with its caller', TIMED, async () => {
      const isFrames = pieces.type.includes('eventstream')
      const noise = isFrames ? pieces.word('') : Buffer.from(`: ${'x'.repeat(1000)}\n\ndata:\n\nid: 7\n\n`)
      const flood = await Flood.open(
        Buffer.concat([headOf(pieces.type), pieces.head]),
        Buffer.concat(Array(40).fill(noise)),
      )
      const gateway = await openGateway([channelFor(row, flood.upstream.address)])
      const { out, answer } = gateway.send(pieces.path, pieces.body, { headers: headersOf(row) })
      out.on('error', () => {})
      answer.then(
        message => message.on('error', () => {}).resume(),
        () => {},
      )
      await until(() => flood.written > 8 * MIB)
      out.destroy()
      await until(() => flood.closed === 1)
    })
  },
)
