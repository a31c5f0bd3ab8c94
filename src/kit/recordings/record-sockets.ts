import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import { MAX_RECORDED } from './pass-exchange.ts'
import { msSince, upstreamHeaders, upstreamUrl } from './record-urls.ts'
import type { ArrivedSession, Recorder } from './recorder.ts'

/** Maximum size of a message, in bytes. */
export const MAX_MESSAGE = 64 * 1024 * 1024
/** Codes that a close frame must not contain (RFC 6455, section 7.4.1). */
const UNSENDABLE_CODES = new Set([1004, 1005, 1006, 1015])
/** Code to send instead: "normal closure". */
const NORMAL_CLOSURE = 1000

/** Returns the code, or a replacement if a close frame must not contain it. */
export const sendableCode = (code: number): number =>
  code < NORMAL_CLOSURE || UNSENDABLE_CODES.has(code) ? NORMAL_CLOSURE : code

/** Passes WebSocket sessions on to an upstream, and records them if there is a recorder. */
export class PassedSessions {
  private readonly sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE, perMessageDeflate: false })
  private readonly upstream: string
  private readonly recorder: Recorder | undefined

  constructor(upstream: string, recorder?: Recorder) {
    this.upstream = upstream
    this.recorder = recorder
  }

  pass(message: IncomingMessage, connection: Duplex, head: Buffer): void {
    connection.on('error', () => connection.destroy())
    const url = upstreamUrl(this.upstream, message.url ?? '/').replace(/^http/, 'ws')
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
      this.sockets.handleUpgrade(
        message,
        connection,
        head,
        from => new PassingSession(message, from, to, this.recorder),
      )
    })
  }

  /** Ends all sessions. */
  close(): void {
    for (const client of this.sockets.clients) client.terminate()
  }
}

/** Returns the caller's headers without those of the handshake, because the upstream's connection has its own. */
const sessionHeaders = ({ headers }: IncomingMessage): Record<string, string | string[]> =>
  Object.fromEntries(Object.entries(upstreamHeaders(headers)).filter(([name]) => !name.startsWith('sec-websocket-')))

/** One session, whose frames are forwarded as they arrive, in both directions. */
class PassingSession {
  private readonly startedAt = performance.now()
  private readonly at = new Date()
  private readonly frames: ArrivedSession['frames'][number][] = []
  private isRecorded = false
  private size = 0

  constructor(message: IncomingMessage, caller: WebSocket, upstream: WebSocket, recorder: Recorder | undefined) {
    const { url = '/', headers } = message
    const sides = [
      ['caller', caller, upstream],
      ['upstream', upstream, caller],
    ] as const
    for (const [side, from, to] of sides) {
      from.on('message', (data: RawData, isBinary: boolean) => {
        to.send(data, { binary: isBinary })
        if (recorder !== undefined) this.take(side, data as Buffer, isBinary)
      })
      from.on('error', () => from.terminate())
      from.once('close', (code, reason) => {
        to.close(sendableCode(code), reason)
        if (this.isRecorded) return
        this.isRecorded = true
        const closed = {
          ms: msSince(this.startedAt),
          from: side,
          code,
          ...(reason.length > 0 ? { reason: String(reason) } : {}),
        }
        const protocol = upstream.protocol === '' ? {} : { protocol: upstream.protocol }
        if (this.size > MAX_RECORDED) recorder?.tooLarge('GET', url)
        else
          recorder?.session(
            { method: 'GET', url, headers, body: Buffer.alloc(0) },
            { ...protocol, frames: this.frames, closed },
            this.at,
          )
      })
    }
  }

  private take(from: 'caller' | 'upstream', bytes: Buffer, isBinary: boolean): void {
    this.size += bytes.length
    if (this.size > MAX_RECORDED) this.frames.length = 0
    else this.frames.push({ ms: msSince(this.startedAt), from, bytes: Buffer.from(bytes), isBinary })
  }
}
