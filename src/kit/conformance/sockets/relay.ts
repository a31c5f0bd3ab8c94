import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Headers } from '../format.ts'
import type { Closing } from './frame.ts'
import { accept, connect, type Socket } from './socket.ts'

/* Sockets of the plain proxy. Frames are relayed unchanged, unless a saboteur changes them. */

/** Frames to send instead of one frame. `terminate` closes both connections without a close frame. */
export type Changed = readonly string[] | 'terminate'

/** Changes the frames of one session. A new instance is created per session. */
export interface FrameMeddling {
  readonly client?: (text: string) => Changed
  readonly server?: (text: string) => Changed
  /** Changes the server's close frame. */
  readonly closing?: (closing: Closing) => Closing
}

/** Changes to one session: its frames and the headers of its handshake. */
export interface SocketMeddling {
  readonly frames?: () => FrameMeddling
  readonly headers?: (headers: Headers) => Headers
}

/** Status codes that a close frame must not contain (RFC 6455, section 7.4.1). */
const UNSENDABLE = new Set([1004, 1005, 1006, 1015])

/** Maximum idle time of a relayed session, in milliseconds. */
const IDLE = 600_000

/** Handshake headers that apply to only one connection. */
const OF_HANDSHAKE = /^(connection|upgrade|host|sec-websocket-.*)$/

const passed = ({ headers }: IncomingMessage): Headers =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (OF_HANDSHAKE.test(name) ? [] : [[name, String(value)]])),
  )

/** Forwards frames as they arrive, and finally the close. */
async function pass(
  from: Socket,
  to: Socket,
  change: (text: string) => Changed,
  closing: (closing: Closing) => Closing,
): Promise<void> {
  let count = 0
  while (await from.until(() => from.received.length > count, IDLE)) {
    while (count < from.received.length) {
      const changed = change(from.received[count++]!.text)
      if (changed === 'terminate') {
        from.terminate()
        to.terminate()
        return
      }
      for (const text of changed) to.send(text)
    }
  }
  const { code, reason } = closing(from.closed ?? { code: 1000, reason: '' })
  if (code === 1006) to.terminate()
  else to.close(UNSENDABLE.has(code) ? 1000 : code, reason)
}

/** Relays a session to the same path of another server. */
export async function relay(
  url: string,
  [message, connection, head]: readonly [IncomingMessage, Duplex, Buffer],
  { frames, headers = given => given }: SocketMeddling = {},
): Promise<void> {
  const { client, server, closing } = frames?.() ?? {}
  const opened = await connect(url, headers(passed(message)))
  if (!('socket' in opened)) {
    const status = 'refusal' in opened ? opened.refusal.status : 502
    connection.end(`HTTP/1.1 ${status} Refused\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`)
    return
  }
  const caller = await accept(message, connection, head)
  const unchanged = (text: string): Changed => [text]
  const same = (given: Closing): Closing => given
  await Promise.all([
    pass(caller, opened.socket, client ?? unchanged, same),
    pass(opened.socket, caller, server ?? unchanged, closing ?? same),
  ])
}
