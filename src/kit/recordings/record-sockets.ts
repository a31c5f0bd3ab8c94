import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type RawData, WebSocket, WebSocketServer } from 'ws'
import { msSince } from '../../canonical/milliseconds.ts'
import { mayBeSent, NORMAL } from '../../voice/closing.ts'
import { upstreamHeaders, upstreamUrl } from './record-urls.ts'
import type { ArrivedSession, Recorder } from './recorder.ts'
import { MAX_RECORDED, recordedSize } from './recording.ts'

/** Maximum size of a message, in bytes. */
export const MAX_MESSAGE = 64 * 1024 * 1024
/** Maximum size of messages that one side has not read yet, in bytes. The other side is paused meanwhile. */
const MAX_BUFFERED = 1024 * 1024

/** Returns the code, or "normal closure" if a close frame must not contain it. */
export const sendableCode = (code: number): number => (mayBeSent(code) ? code : NORMAL)

const REFUSAL = 'HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n'

/** Passes WebSocket sessions on to an upstream, and records them if there is a recorder. */
export class PassedSessions {
  private readonly sockets = new WebSocketServer({
    ...{ noServer: true, maxPayload: MAX_MESSAGE, perMessageDeflate: false },
    handleProtocols: (_, message) => this.protocols.get(message) || false,
  })
  /** Subprotocols that the upstream chose, by the caller's request. */
  private readonly protocols = new WeakMap<IncomingMessage, string>()
  private readonly upstream: string
  private readonly recorder: Recorder | undefined
  /** Connections of callers whose upstream has not accepted the session yet. */
  private readonly waiting = new Set<Duplex>()

  constructor(upstream: string, recorder?: Recorder) {
    this.upstream = upstream
    this.recorder = recorder
  }

  pass(message: IncomingMessage, connection: Duplex, head: Buffer): void {
    connection.on('error', () => connection.destroy())
    const to = openedTo(this.upstream, message)
    if (to === undefined) return void connection.end(REFUSAL)
    this.waiting.add(connection)
    const leave = (): void => void connection.destroy()
    // A caller that ends the connection properly does not close this side of it.
    connection.once('end', leave)
    connection.once('close', () => {
      this.waiting.delete(connection)
      if (to.readyState === to.CONNECTING) to.terminate()
    })
    to.once('unexpected-response', (_, answer) => {
      connection.end(`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\nconnection: close\r\n\r\n`)
    })
    to.once('error', () => connection.destroy())
    to.once('open', () => {
      this.waiting.delete(connection)
      connection.off('end', leave)
      this.protocols.set(message, to.protocol)
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
    for (const connection of this.waiting) connection.destroy()
    for (const client of this.sockets.clients) client.terminate()
  }
}

/** Opens a session at an upstream. Returns undefined if the caller names no path, or subprotocols that are invalid. */
function openedTo(upstream: string, message: IncomingMessage): WebSocket | undefined {
  try {
    const url = upstreamUrl(upstream, message.url ?? '/').replace(/^http/, 'ws')
    const protocols = message.headers['sec-websocket-protocol']?.split(',').map(one => one.trim()) ?? []
    return new WebSocket(url, protocols, {
      headers: sessionHeaders(message),
      maxPayload: MAX_MESSAGE,
      perMessageDeflate: false,
    })
  } catch {
    return undefined
  }
}

/** Returns the caller's headers without those of the handshake, because the upstream's connection has its own. */
const sessionHeaders = ({ headers }: IncomingMessage): Record<string, string | string[]> =>
  Object.fromEntries(Object.entries(upstreamHeaders(headers)).filter(([name]) => !name.startsWith('sec-websocket-')))

/** One session, whose frames are forwarded as they arrive, in both directions. */
class PassingSession {
  private readonly startedAt = performance.now()
  private readonly at: Date
  private readonly frames: ArrivedSession['frames'][number][] = []
  private isRecorded = false
  private size = 0

  constructor(message: IncomingMessage, caller: WebSocket, upstream: WebSocket, recorder: Recorder | undefined) {
    this.at = recorder?.startTime() ?? new Date()
    const { url = '/', headers } = message
    const sides = [
      ['caller', caller, upstream],
      ['upstream', upstream, caller],
    ] as const
    for (const [side, from, to] of sides) {
      from.on('message', (data: RawData, isBinary: boolean) => {
        to.send(data, { binary: isBinary }, () => {
          if (from.isPaused && to.bufferedAmount < MAX_BUFFERED) from.resume()
        })
        if (to.bufferedAmount > MAX_BUFFERED) from.pause()
        if (recorder !== undefined) this.take(side, data as Buffer, isBinary)
      })
      from.on('error', () => from.terminate())
      from.once('close', (code, reason) => {
        to.resume()
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
    this.size += recordedSize(bytes)
    if (this.size > MAX_RECORDED) this.frames.length = 0
    else this.frames.push({ ms: msSince(this.startedAt), from, bytes: Buffer.from(bytes), isBinary })
  }
}
