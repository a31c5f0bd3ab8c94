import type { WebSocket } from 'ws'

/** Close codes (RFC 6455, section 7.4.1). */
export const NORMAL = 1000
export const GOING_AWAY = 1001
/** The connection breaks a rule of its server, such as who may have it. */
export const POLICY_VIOLATION = 1008
export const TOO_BIG = 1009
export const INTERNAL = 1011
export const TRY_AGAIN_LATER = 1013

/** Milliseconds for the other side to answer a close frame. */
const FAREWELL = 1000

/** The most bytes of a reason (RFC 6455, section 5.5). */
const LONGEST_REASON = 123

/** Codes that stand for the absence of a close frame, or are not defined, cannot be sent. */
const mayBeSent = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006) || (code >= 3000 && code <= 4999)

/** A code for the other side of a session: as it came, if it can be sent. */
export const passedOn = (code: number): number => (mayBeSent(code) ? code : code === 1005 ? NORMAL : INTERNAL)

/** Closes a socket; one that does not answer in time is broken off. A paused socket is read again for the answer. */
export function closeSocket(socket: WebSocket, code: number, reason: string): void {
  if (socket.readyState === socket.CLOSED) return
  socket.resume()
  if (socket.readyState === socket.CONNECTING) {
    socket.terminate()
    return
  }
  socket.close(passedOn(code), truncated(reason))
  const timer = setTimeout(() => socket.terminate(), FAREWELL)
  timer.unref()
  socket.once('close', () => clearTimeout(timer))
}

function truncated(reason: string): string {
  const bytes = Buffer.from(reason)
  return bytes.length <= LONGEST_REASON
    ? reason
    : bytes
        .subarray(0, LONGEST_REASON)
        .toString()
        .replace(/\uFFFD+$/, '')
}
