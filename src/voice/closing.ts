import type { WebSocket } from 'ws'
import { CLOSE_TIMEOUT } from './limits.ts'
import type { SessionEnd } from './upstream.ts'
import { SESSION_LOST } from './upstream-errors.ts'

/* Close codes (RFC 6455, section 7.4.1). */

export const NORMAL = 1000
export const GOING_AWAY = 1001
/** Close code for a peer that violated a policy, such as one on who may connect. */
export const POLICY_VIOLATION = 1008
export const TOO_BIG = 1009
export const INTERNAL = 1011
export const TRY_AGAIN_LATER = 1013

/** Maximum length of the reason in a close frame, in bytes (RFC 6455, section 5.5). */
const MAX_REASON_BYTES = 123

/**
 * Returns true if a close frame may contain the code. Undefined codes, and codes for a missing close frame, are not
 * allowed.
 */
export const mayBeSent = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006) || (code >= 3000 && code <= 4999)

/**
 * Returns the close code for the other side of a session: the same code, or 1000 or 1011 if that code must not be sent.
 */
export const relayedCode = (code: number): number => (mayBeSent(code) ? code : code === 1005 ? NORMAL : INTERNAL)

/** Returns the end of a session whose upstream closed the connection with this code. */
export const endOf = (code: number, reason: string): SessionEnd => ({
  code: relayedCode(code),
  reason,
  ...(code === NORMAL || code === 1005 ? {} : { error: SESSION_LOST }),
})

/**
 * Closes a socket, and terminates it if the peer neither answers in time nor reads the output before the close frame. A
 * paused socket is resumed, because it could not read the answer otherwise.
 */
export function closeSocket(socket: WebSocket, code: number, reason: string): void {
  if (socket.readyState === socket.CLOSED) return
  socket.resume()
  if (socket.readyState === socket.CONNECTING) {
    socket.terminate()
    return
  }
  socket.close(relayedCode(code), sendableReason(reason))
  let waiting = socket.bufferedAmount
  const timer = setInterval(() => {
    const { bufferedAmount } = socket
    if (bufferedAmount >= waiting) socket.terminate()
    waiting = bufferedAmount
  }, CLOSE_TIMEOUT)
  timer.unref()
  socket.once('close', () => clearInterval(timer))
}

/** Cuts a reason to the length that a close frame can hold. */
export function sendableReason(reason: string): string {
  const bytes = Buffer.from(reason)
  return bytes.length <= MAX_REASON_BYTES
    ? reason
    : bytes
        .subarray(0, MAX_REASON_BYTES)
        .toString()
        .replace(/\uFFFD+$/, '')
}
