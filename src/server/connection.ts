import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ErrorAnswer } from '../gateway.ts'

/** Milliseconds for which what a refused caller still sends is thrown away: closing at once would lose our answer. */
export const LINGER = 1000

/** Milliseconds for which it is, as long as it keeps coming: many clients read nothing before they have sent all. */
const LONGEST = 30_000

/** Throws away the rest of a refused request, and goes on once it is whole, falls silent or has taken too long. */
export function drain(message: IncomingMessage, then: () => void): void {
  const silence = setTimeout(() => settle(), LINGER)
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
 * The answer a connection waits for at present, the first of several; undefined where it waits for none. Node keeps it
 * there, and keeping it ourselves would cost every request.
 */
export const answerOf = (socket: Duplex): ServerResponse | undefined =>
  (socket as { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? undefined

/** The last answer of a connection that has no `ServerResponse` to write it. */
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
  hangUp(socket)
}

/** Says that no more will come, and takes what does for a moment. */
export function hangUp(socket: Duplex): void {
  socket.end()
  socket.resume()
  setTimeout(() => socket.destroy(), LINGER).unref()
}
