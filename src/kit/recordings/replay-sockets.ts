import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { withEscapedControls } from '../../canonical/text.ts'
import { sendableReason } from '../../voice/closing.ts'
import { bytesOf } from './body.ts'
import { differenceText } from './difference.ts'
import { addMiss } from './misses.ts'
import { MAX_MESSAGE, sendableCode } from './record-sockets.ts'
import { UNREFERENCED } from './served-answer.ts'
import type { SessionCandidate, SessionLibrary } from './session-library.ts'
import { callerMessage, type ReleasedFrame, redactedMessage, type SessionMiss } from './session-script.ts'

export interface SessionServing {
  readonly library: SessionLibrary
  readonly misses: string[]
  /** Speed as a multiple of the recorded speed. 0 means no waiting. */
  readonly speed: number
}

/** A request for a session, its scope, and the recorded sessions with the same address. */
export interface RequestedSession {
  readonly url: string
  readonly scope: string
  readonly candidates: readonly SessionCandidate[]
}

/** The protocol error "policy violation" (RFC 6455, section 7.4.1). */
const POLICY_VIOLATION = 1008

/** Serves recorded WebSocket sessions. */
export class ReplaySockets {
  private readonly sockets = new WebSocketServer({
    ...{ noServer: true, maxPayload: MAX_MESSAGE, perMessageDeflate: false },
    handleProtocols: (offered, message) => {
      const recorded = this.protocols.get(message)
      return recorded !== undefined && offered.has(recorded) ? recorded : ([...offered][0] ?? false)
    },
  })
  /** Recorded subprotocols, by the caller's request. A redacted one is none that the caller offers. */
  private readonly protocols = new WeakMap<IncomingMessage, string>()
  private readonly serving: SessionServing

  constructor(serving: SessionServing) {
    this.serving = serving
  }

  accept(message: IncomingMessage, connection: Duplex, head: Buffer, requested: RequestedSession): void {
    const protocol = requested.candidates[0]?.script.session.protocol
    if (protocol !== undefined) this.protocols.set(message, protocol)
    this.sockets.handleUpgrade(
      message,
      connection,
      head,
      socket => new ReplayedSession(socket, requested, this.serving),
    )
  }

  /** Refuses a session without a recording. */
  refuse(connection: Duplex, url: string): void {
    const message = `No recorded session matches GET ${url.split('?', 1)[0]}.`
    addMiss(this.serving.misses, message)
    const body = JSON.stringify(errorEvent(message).error)
    connection.end(
      `HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
  }

  close(): void {
    for (const client of this.sockets.clients) client.terminate()
  }
}

const errorEvent = (message: string) => ({
  type: 'error',
  error: { type: 'invalid_request_error', code: 'no_recording', message },
})

/** One session with a caller. Follows the first of the recorded sessions that match all messages so far. */
class ReplayedSession {
  private candidates: readonly SessionCandidate[]
  private readonly socket: WebSocket
  private readonly requested: RequestedSession
  private readonly serving: SessionServing
  private followedFile: string | undefined
  private lastSend: Promise<void> = Promise.resolve()

  constructor(socket: WebSocket, requested: RequestedSession, serving: SessionServing) {
    this.socket = socket
    this.requested = requested
    this.serving = serving
    this.candidates = requested.candidates
    socket.on('error', () => socket.terminate())
    socket.on('message', (data: RawData) => this.take(Buffer.from(data as Buffer)))
    for (const [index, { script }] of this.candidates.entries()) {
      const released = script.released()
      if (index === 0) this.send(released)
    }
    this.follow()
  }

  private take(bytes: Buffer): void {
    const { url } = this.requested
    const path = url.split('?', 1)[0]!
    const misses: SessionMiss[] = []
    let first: readonly ReleasedFrame[] | undefined
    this.candidates = this.candidates.filter(({ script, redaction, ignore }) => {
      const outcome = script.take(callerMessage(redactedMessage(bytes, redaction), path, ignore))
      if ('file' in outcome) misses.push(outcome)
      else first ??= outcome
      return !('file' in outcome)
    })
    if (first === undefined) return this.miss(path, misses)
    this.follow()
    this.send(first)
  }

  /** Records which session the caller is following. */
  private follow(): void {
    const { library } = this.serving
    const { scope } = this.requested
    const file = this.candidates[0]?.script.file
    if (file === undefined || file === this.followedFile) return
    if (this.followedFile !== undefined) library.giveBack(this.followedFile, scope)
    library.take(file, scope)
    this.followedFile = file
  }

  private miss(path: string, misses: readonly SessionMiss[]): void {
    if (misses.length === 0) return
    const [first, ...others] = misses as readonly [SessionMiss, ...SessionMiss[]]
    const nearest = others.reduce((a, b) => (b.differences.length < a.differences.length ? b : a), first)
    const message = `No recorded session of ${path} has this message. The nearest is ${withEscapedControls(nearest.file)}; it differs in:\n${differenceText(nearest.differences)}`
    addMiss(this.serving.misses, message)
    this.lastSend = this.lastSend.then(() => {
      this.socket.send(JSON.stringify(errorEvent(message)))
      this.socket.close(POLICY_VIOLATION, 'no recording')
    })
  }

  /** Sends messages after those already being sent, and closes the session if the upstream did. */
  private send(frames: readonly ReleasedFrame[]): void {
    const { speed } = this.serving
    // Later messages may end the script before these are sent.
    const script = this.candidates[0]?.script
    const closed = script?.isOver ? script.session.closed : undefined
    this.lastSend = this.lastSend.then(async () => {
      for (const { frame, wait } of frames) {
        if (speed > 0) await sleep(wait / speed, undefined, UNREFERENCED)
        const binary = frame.binary === true || frame.text === undefined
        this.socket.send(binary ? bytesOf(frame) : frame.text!, { binary })
      }
      if (closed?.from === 'upstream') this.socket.close(sendableCode(closed.code), sendableReason(closed.reason ?? ''))
    })
  }
}
