import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'

/* A WebSocket server by hand, which can send what no library sends. */

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** The head of an answer that accepts a handshake. */
export function accepting(request: Buffer | string, ...headers: readonly string[]): string {
  const [, key = ''] = /sec-websocket-key: *(\S+)/i.exec(request.toString()) ?? []
  const accepted = createHash('sha1').update(`${key}${MAGIC}`).digest('base64')
  const lines = ['upgrade: websocket', 'connection: upgrade', `sec-websocket-accept: ${accepted}`, ...headers]
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`
}

/** A frame whose first byte, with its flags and opcode, is given. Not masked, of 125 bytes at most. */
export const rawFrame = (first: number, payload: Buffer | string): Buffer => {
  const bytes = Buffer.from(payload)
  return Buffer.concat([Buffer.from([first, bytes.length]), bytes])
}

export const closeFrame = (code: number, reason: Buffer | string = ''): Buffer => {
  const head = Buffer.alloc(2)
  head.writeUInt16BE(code)
  return rawFrame(0x88, Buffer.concat([head, Buffer.from(reason)]))
}

/** Writes a text byte by byte, without an end in sight. */
export function drip(socket: Socket, text: string): void {
  let at = 0
  const timer = setInterval(() => {
    if (socket.destroyed || at >= text.length) clearInterval(timer)
    else socket.write(text[at++]!)
  }, 20)
}

/** Writes bytes until the connection is closed, without reading. */
export function flood(socket: Socket, bytes: Buffer): void {
  socket.pause()
  const more = (): void => {
    while (!socket.destroyed && socket.write(bytes));
    if (!socket.destroyed) socket.once('drain', more)
  }
  more()
}

/** What a target may do once it accepted a connection, with bytes that a library would not send. */
export const AFTER_ACCEPTING: { readonly [name: string]: (socket: Socket) => void } = {
  'sends a compressed frame, unasked': socket => socket.write(rawFrame(0xc1, 'bomb')),
  'sends an unknown opcode': socket => socket.write(rawFrame(0x83, 'a')),
  'sends a masked frame': socket => socket.write(Buffer.from([0x81, 0x81, 1, 2, 3, 4, 5])),
  'sends text that is no UTF-8': socket => socket.write(rawFrame(0x81, Buffer.from([0xff, 0xfe]))),
  'announces an endless frame': socket =>
    socket.write(Buffer.from([0x81, 0x7f, 0x7f, 255, 255, 255, 255, 255, 255, 255])),
  'goes on with a message that never began': socket => socket.write(rawFrame(0x80, 'a')),
  'closes with a reserved code': socket => socket.write(closeFrame(1005)),
  'closes with a code that is none': socket => socket.write(closeFrame(999)),
  'closes with half a code': socket => socket.write(rawFrame(0x88, 'a')),
  'closes with a reason that is no UTF-8': socket => socket.write(closeFrame(1000, Buffer.from([0xc3]))),
  'closes and stays connected': socket => socket.write(closeFrame(4999, 'later')),
  'never ends a message': socket =>
    flood(socket, Buffer.concat(Array(1000).fill(rawFrame(0x01, '')) as Buffer[]).fill(rawFrame(0x00, 'a'), 2)),
  'floods with pings': socket =>
    flood(socket, Buffer.concat(Array(1000).fill(rawFrame(0x89, 'x'.repeat(100))) as Buffer[])),
}

/** What a target may do in the handshake. */
export const HANDSHAKES: { readonly [name: string]: (socket: Socket, request: Buffer | string) => void } = {
  'drips its head': (socket, request) => drip(socket, accepting(request, `x: ${'a'.repeat(10_000)}`)),
  'announces itself for ever': socket => flood(socket, Buffer.from('HTTP/1.1 103 Early\r\n\r\n')),
  'sends endless headers': socket => {
    socket.write('HTTP/1.1 101 A\r\n')
    flood(socket, Buffer.from('x: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n'))
  },
  'compresses, unasked': (socket, request) =>
    socket.write(accepting(request, 'sec-websocket-extensions: permessage-deflate')),
  'speaks a subprotocol, unasked': (socket, request) => socket.write(accepting(request, 'sec-websocket-protocol: x')),
  'redirects to itself': (socket, request) =>
    socket.end(`HTTP/1.1 307 A\r\nlocation: ${/^GET (\S+)/.exec(String(request))![1]}\r\ncontent-length: 0\r\n\r\n`),
}
