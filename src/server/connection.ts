import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ErrorAnswer } from '../gateway/index.ts'

/**
 * The rest of a refused request is read and discarded, as many clients read nothing before they have sent all:
 * milliseconds of silence after which that ends, and of all of it.
 */
export const SILENCE_LIMIT = 1000
const LONGEST = 30_000

/** Discards the rest of a refused request, and continues once it is complete, silent or too late. */
export function drain(message: IncomingMessage, then: () => void): void {
  const silence = setTimeout(() => settle(), SILENCE_LIMIT)
  const end = setTimeout(() => settle(), LONGEST)
  const settle = (): void => {
    clearTimeout(silence)
    clearTimeout(end)
    message.off('close', settle)
    then()
  }
  message.on('data', () => silence.refresh())
  message.on('close', settle).resume()
}

/**
 * The answer that a connection waits for, the first of several; undefined for none. Node has it, and tracking it here
 * would cost every request.
 */
export const answerOf = (socket: Duplex): ServerResponse | undefined =>
  (socket as { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? undefined

/** Writes the last answer of a connection without a `ServerResponse`. */
export function sendLast(socket: Duplex, { status, headers, text }: ErrorAnswer): void {
  socket.on('error', () => socket.destroy())
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const lines = Object.entries({
    date: new Date().toUTCString(),
    'content-type': 'application/json; charset=utf-8',
    ...headers,
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}\r\n${lines.join('')}\r\n${text}`)
  closeGently(socket)
}

/** Ends our side of the connection, and lets the caller send the rest of its request. */
export function closeGently(socket: Duplex): void {
  if (socket.destroyed) return
  socket.end()
  socket.resume()
  const end = performance.now() + LONGEST
  let before = bytesReadOf(socket)
  const timer = setInterval(() => {
    const read = bytesReadOf(socket)
    if (read === before || performance.now() > end) socket.destroy()
    before = read
  }, SILENCE_LIMIT).unref()
  socket.once('close', () => clearInterval(timer))
}

/** Bytes read from the connection: where Node's parser reads it, no event reports them. */
const bytesReadOf = (socket: Duplex): number => (socket as Partial<Socket>).bytesRead ?? 0
