import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ErrorAnswer } from '../gateway/index.ts'

/**
 * Maximum silence while the rest of a refused request is discarded, in milliseconds. Many clients read the answer only
 * after they have sent their whole request.
 */
export const SILENCE_LIMIT = 1000
/** Maximum time for discarding the rest of a refused request, in milliseconds. */
const MAX_DRAIN_TIME = 30_000

/**
 * Discards the rest of a refused request. Calls `then` when the request is complete, has been silent for too long or
 * takes too long in total.
 */
export function drain(message: IncomingMessage, then: () => void): void {
  const silence = setTimeout(() => settle(), SILENCE_LIMIT)
  const end = setTimeout(() => settle(), MAX_DRAIN_TIME)
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
 * Returns the answer that a connection is currently sending: the first one if several requests are pipelined. Reads a
 * private field of Node, because tracking answers here would slow down every request.
 */
export const answerOf = (socket: Duplex): ServerResponse | undefined =>
  (socket as { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? undefined

/** State of the gateway, which waits for its connections when it stops. */
interface Stopping {
  readonly isStopping: boolean
}

/** Writes a final answer to a connection without a `ServerResponse`, then closes the connection. */
export function sendLast(socket: Duplex, { status, headers, text }: ErrorAnswer, gateway: Stopping): void {
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
  closeGently(socket, gateway)
}

/**
 * Closes the sending side of a connection, but lets the caller finish its request, unless the gateway stops meanwhile.
 */
export function closeGently(socket: Duplex, gateway: Stopping): void {
  if (socket.destroyed) return
  socket.end()
  socket.resume()
  const end = performance.now() + MAX_DRAIN_TIME
  let previousCount = bytesReadOf(socket)
  const timer = setInterval(() => {
    const byteCount = bytesReadOf(socket)
    if (byteCount === previousCount || performance.now() > end || gateway.isStopping) socket.destroy()
    previousCount = byteCount
  }, SILENCE_LIMIT).unref()
  socket.once('close', () => clearInterval(timer))
}

/**
 * Returns the number of bytes read so far. Node's HTTP parser reads the socket without `data` events, so they cannot
 * be counted by a listener.
 */
const bytesReadOf = (socket: Duplex): number => (socket as Partial<Socket>).bytesRead ?? 0
