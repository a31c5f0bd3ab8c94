import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Headers } from '../format.ts'
import type { Closing } from './frame.ts'
import { accept, connect, type Socket } from './socket.ts'

/* Sockets of the plain proxy. Frames are relayed unchanged, unless a saboteur changes them. */

/** Frames to send instead of one frame. `terminate` closes both connections without a close frame. */
export type RelayedFrames = readonly string[] | 'terminate'

/** Changes the frames of one session. A new instance is created per session. */
export interface FrameMeddling {
  readonly client?: (text: string) => RelayedFrames
  readonly server?: (text: string) => RelayedFrames
  /** Changes the server's close frame. */
  readonly closing?: (closing: Closing) => Closing
}

/** Changes to one session: its frames and the headers of its handshake. */
export interface SocketMeddling {
  readonly frames?: () => FrameMeddling
  readonly headers?: (headers: Headers) => Headers
}

/** Status codes that a close frame must not contain (RFC 6455, section 7.4.1). */
const UNSENDABLE_CODES = new Set([1004, 1005, 1006, 1015])

/** Maximum idle time of a relayed session, in milliseconds. */
const IDLE_TIMEOUT_MS = 600_000

/** Handshake headers that apply to only one connection. */
const HANDSHAKE_HEADERS = /^(connection|upgrade|host|sec-websocket-.*)$/

const forwardedHeaders = ({ headers }: IncomingMessage): Headers =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (HANDSHAKE_HEADERS.test(name) ? [] : [[name, String(value)]])),
  )

/** Forwards frames as they arrive, and finally the close. */
async function forwardFrames(
  from: Socket,
  to: Socket,
  change: (text: string) => RelayedFrames,
  closing: (closing: Closing) => Closing,
): Promise<void> {
  let count = 0
  while (await from.waitUntil(() => from.received.length > count, IDLE_TIMEOUT_MS)) {
    while (count < from.received.length) {
      const replacement = change(from.received[count++]!.text)
      if (replacement === 'terminate') {
        from.terminate()
        to.terminate()
        return
      }
      for (const text of replacement) to.send(text)
    }
  }
  const { code, reason } = closing(from.closed ?? { code: 1000, reason: '' })
  if (code === 1006) to.terminate()
  else to.close(UNSENDABLE_CODES.has(code) ? 1000 : code, reason)
}

/** Relays a session to the same path of another server. */
export async function relay(
  url: string,
  [message, connection, head]: readonly [IncomingMessage, Duplex, Buffer],
  { frames, headers = given => given }: SocketMeddling = {},
): Promise<void> {
  const { client, server, closing } = frames?.() ?? {}
  const upstreamConnection = await connect(url, headers(forwardedHeaders(message)))
  if (!('socket' in upstreamConnection)) {
    const status = 'refusal' in upstreamConnection ? upstreamConnection.refusal.status : 502
    connection.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`)
    return
  }
  const caller = await accept(message, connection, head)
  const passFrame = (text: string): RelayedFrames => [text]
  const passClosing = (given: Closing): Closing => given
  await Promise.all([
    forwardFrames(caller, upstreamConnection.socket, client ?? passFrame, passClosing),
    forwardFrames(upstreamConnection.socket, caller, server ?? passFrame, closing ?? passClosing),
  ])
}
