import type { RawData, WebSocket } from 'ws'
import { closeSocket } from './closing.ts'
import { Heartbeat } from './heartbeat.ts'

export interface SocketLimits {
  /** Time between heartbeats, in milliseconds. */
  readonly heartbeat: number
  /** Maximum size of the output buffered for the peer, in bytes. */
  readonly buffer: number
}

export interface SocketListener {
  frame(data: Buffer, isBinary: boolean): void
  /** Called when the peer has read some of the output. */
  onDrain(): void
  /** Called when the peer is too slow: it read nothing for two heartbeats, or the waiting output exceeds the limit. */
  stalled(): void
  /** Called once, when either side has closed the connection. */
  closed(code: number, reason: string): void
}

/**
 * Reason why a socket is not being read: it has no listener yet, the other side is slow, or audio converters are being
 * opened.
 */
export type Hold = 'starting' | 'behind' | 'converting'

/** One WebSocket of a voice session, to a caller or an upstream. Reading starts when it gets a listener. */
export class SessionSocket {
  /** Resolves once the connection is closed. */
  readonly closed: Promise<void>
  private readonly socket: WebSocket
  private readonly limits: SocketLimits
  private readonly heartbeat = new Heartbeat()
  private readonly holds = new Set<Hold>(['starting'])
  private listener: SocketListener | undefined
  private isClosing = false
  /** Code and reason with which the connection was closed. */
  private end: { readonly code: number; readonly reason: string } | undefined

  constructor(socket: WebSocket, limits: SocketLimits) {
    this.socket = socket
    this.limits = limits
    const { promise, resolve } = Promise.withResolvers<void>()
    this.closed = promise
    socket.pause()
    socket.on('message', this.receive)
    socket.on('pong', () => this.heartbeat.answered())
    socket.on('ping', () => this.checkBuffer())
    socket.on('error', () => socket.terminate())
    const timer = setInterval(this.beat, limits.heartbeat)
    socket.once('close', (code, reason) => {
      clearInterval(timer)
      this.isClosing = true
      this.end = { code, reason: reason.toString() }
      this.listener?.closed(code, this.end.reason)
      resolve()
    })
    if (socket.readyState === socket.CLOSED) socket.emit('close', 1006, Buffer.alloc(0))
  }

  /** Number of bytes waiting to be sent. */
  get buffered(): number {
    return this.socket.bufferedAmount
  }

  /** Sets the listener for all further events, and starts reading. */
  listen(listener: SocketListener): void {
    this.listener = listener
    if (this.end === undefined) this.resume('starting')
    else listener.closed(this.end.code, this.end.reason)
  }

  send(frame: string | Buffer, format: { readonly binary: boolean } = TEXT_FRAME): void {
    if (this.isClosing) return
    this.socket.send(frame, format, this.onSent)
    this.checkBuffer()
  }

  pause(hold: Hold = 'behind'): void {
    if (this.isClosing) return
    this.holds.add(hold)
    this.socket.pause()
  }

  resume(hold: Hold = 'behind'): void {
    this.holds.delete(hold)
    if (this.holds.size === 0 && !this.isClosing) this.socket.resume()
  }

  /** Sends a close frame. Further frames from the peer are ignored. */
  close(code: number, reason: string): void {
    if (this.isClosing) return
    this.isClosing = true
    closeSocket(this.socket, code, reason)
  }

  terminate(): void {
    this.isClosing = true
    this.socket.terminate()
  }

  private checkBuffer(): void {
    if (!this.isClosing && this.socket.bufferedAmount > this.limits.buffer) this.listener?.stalled()
  }

  private readonly receive = (data: RawData, isBinary: boolean): void => {
    if (this.isClosing) return
    this.heartbeat.answered()
    this.listener?.frame(Array.isArray(data) ? Buffer.concat(data) : (data as Buffer), isBinary)
  }

  private readonly onSent = (): void => {
    this.heartbeat.onDrain()
    this.listener?.onDrain()
  }

  private readonly beat = (): void => {
    if (this.isClosing) return
    const { socket } = this
    const beat = this.heartbeat.next({ waits: socket.bufferedAmount > 0, isPaused: socket.isPaused })
    if (beat === 'ping') socket.ping()
    else if (beat === 'stalled') this.listener?.stalled()
    else if (beat === 'gone') socket.terminate()
  }
}

/** Option of `ws` for sending a buffer as a text frame. */
const TEXT_FRAME = { binary: false } as const
