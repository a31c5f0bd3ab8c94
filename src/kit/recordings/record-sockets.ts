import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import { msSince, passedHeaders, upstreamUrl } from './record-urls.ts'
import type { ArrivedSession, Recorder } from './recorder.ts'

/** Bytes; largest message. */
const MAX_MESSAGE = 64 * 1024 * 1024
/** Codes that a close frame must not contain (RFC 6455, section 7.4.1), and the code that is sent instead. */
const UNSENDABLE = new Set([1004, 1005, 1006, 1015])
const NORMAL = 1000

/** Passes WebSocket sessions to the upstream and records them. The returned function ends them. */
export function recordSockets(server: Server, upstream: string, recorder: Recorder): () => void {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE, perMessageDeflate: false })
  server.on('upgrade', (message: IncomingMessage, connection: Duplex, head: Buffer) => {
    connection.on('error', () => connection.destroy())
    const url = upstreamUrl(upstream, message.url ?? '/').replace(/^http/, 'ws')
    const protocols = message.headers['sec-websocket-protocol']?.split(/\s*,\s*/) ?? []
    const to = new WebSocket(url, protocols, {
      headers: sessionHeaders(message),
      maxPayload: MAX_MESSAGE,
      perMessageDeflate: false,
    })
    to.once('unexpected-response', (_, answer) => {
      connection.end(`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\nconnection: close\r\n\r\n`)
    })
    to.once('error', () => connection.destroy())
    to.once('open', () => {
      sockets.handleUpgrade(message, connection, head, from => new PassingSession(message, from, to, recorder))
    })
  })
  return () => {
    for (const client of sockets.clients) client.terminate()
  }
}

/** The caller's headers without those of the handshake, which the upstream's connection has its own of. */
const sessionHeaders = ({ headers }: IncomingMessage): Record<string, string | string[]> =>
  Object.fromEntries(Object.entries(passedHeaders(headers)).filter(([name]) => !name.startsWith('sec-websocket-')))

/** One session; frames go on as they arrive, in both directions. */
class PassingSession {
  private readonly began = performance.now()
  private readonly at = new Date()
  private readonly frames: ArrivedSession['frames'][number][] = []
  private isRecorded = false

  constructor(message: IncomingMessage, caller: WebSocket, upstream: WebSocket, recorder: Recorder) {
    const { url = '/', headers } = message
    const sides = [
      ['caller', caller, upstream],
      ['upstream', upstream, caller],
    ] as const
    for (const [side, from, to] of sides) {
      from.on('message', (data: RawData, isBinary: boolean) => {
        to.send(data, { binary: isBinary })
        this.frames.push({ ms: msSince(this.began), from: side, bytes: Buffer.from(data as Buffer) })
      })
      from.on('error', () => from.terminate())
      from.once('close', (code, reason) => {
        to.close(UNSENDABLE.has(code) ? NORMAL : code, reason)
        if (this.isRecorded) return
        this.isRecorded = true
        const closed = {
          ms: msSince(this.began),
          from: side,
          code,
          ...(reason.length > 0 ? { reason: String(reason) } : {}),
        }
        const protocol = upstream.protocol === '' ? {} : { protocol: upstream.protocol }
        recorder.session(
          { method: 'GET', url, headers, body: Buffer.alloc(0) },
          { ...protocol, frames: this.frames, closed },
          this.at,
        )
      })
    }
  }
}
