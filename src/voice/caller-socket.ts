import type { RawData, WebSocket } from 'ws'
import { closeSocket, TRY_AGAIN_LATER } from './closing.ts'

export interface CallerLimits {
  /** Bytes that may wait for a slow caller. */
  readonly buffer: number
  /** Milliseconds without a message either way, and of the whole session. */
  readonly idle: number
  readonly lifetime: number
  /** Milliseconds between pings; a caller that answers none for two of them is gone. */
  readonly heartbeat: number
}

export interface CallerListener {
  /** A text frame. */
  frame(data: Buffer): void
  /** A binary frame, which has no meaning here. */
  binary(): void
  /** The caller has taken what waited for it. */
  drained(): void
  /** A limit of time was reached. */
  expired(why: 'idle' | 'lifetime'): void
  /** The connection is closed, by whichever side. Called once. */
  left(code: number, reason: string): void
}

/** Bytes that may wait for a caller before its upstream is not read any more, and at which it is again. */
const HIGH = 256 * 1024
const LOW = 64 * 1024

/** The caller's connection: its frames, its limits, its end. */
export class CallerSocket {
  private readonly socket: WebSocket
  private readonly limits: CallerLimits
  private listener: CallerListener | undefined
  private readonly timers: NodeJS.Timeout[] = []
  private ending = false
  private slow = false
  /** Heartbeats without a sign of life, and with bytes waiting that were not taken. */
  private unheard = 0
  private stalled = 0
  private active = performance.now()

  constructor(socket: WebSocket, limits: CallerLimits) {
    this.socket = socket
    this.limits = limits
    socket.pause()
    socket.on('error', () => socket.terminate())
  }

  /** Begins to read. */
  start(listener: CallerListener): void {
    this.listener = listener
    const { socket, limits } = this
    this.timers.push(setInterval(this.beat, limits.heartbeat))
    this.timers.push(setTimeout(() => this.listener!.expired('lifetime'), limits.lifetime))
    socket.on('message', this.take)
    socket.on('pong', () => (this.unheard = 0))
    socket.on('ping', () => this.checkBound())
    socket.once('close', (code, reason) => {
      this.ending = true
      for (const timer of this.timers) clearTimeout(timer)
      this.listener!.left(code, reason.toString())
    })
    if (socket.readyState === socket.CLOSED) socket.emit('close', 1006, Buffer.alloc(0))
    else socket.resume()
  }

  /** Sends one text frame; false where the caller is behind, and `drained` will be called. */
  send(frame: string | Buffer): boolean {
    if (this.ending) return true
    this.active = performance.now()
    this.socket.send(frame, TEXT, this.sent)
    if (!this.checkBound()) return false
    this.slow ||= this.socket.bufferedAmount > HIGH
    return !this.slow
  }

  pause(): void {
    this.socket.pause()
  }

  resume(): void {
    if (!this.ending) this.socket.resume()
  }

  close(code: number, reason: string): void {
    if (this.ending) return
    this.ending = true
    closeSocket(this.socket, code, reason)
  }

  cut(): void {
    this.ending = true
    this.socket.terminate()
  }

  private checkBound(): boolean {
    if (this.socket.bufferedAmount <= this.limits.buffer) return true
    this.close(TRY_AGAIN_LATER, SLOW)
    return false
  }

  private readonly take = (data: RawData, isBinary: boolean): void => {
    if (this.ending) return
    this.unheard = 0
    this.active = performance.now()
    if (isBinary) this.listener!.binary()
    else this.listener!.frame(Array.isArray(data) ? Buffer.concat(data) : (data as Buffer))
  }

  private readonly sent = (): void => {
    if (!this.slow || this.socket.bufferedAmount > LOW) return
    this.slow = false
    this.stalled = 0
    this.listener!.drained()
  }

  private readonly beat = (): void => {
    if (this.ending) return
    if (this.slow && ++this.stalled > 2) {
      this.close(TRY_AGAIN_LATER, SLOW)
      return
    }
    if (performance.now() - this.active > this.limits.idle) {
      this.listener!.expired('idle')
      return
    }
    // While the socket is paused, no pong of the caller arrives.
    if (this.socket.isPaused || this.socket.bufferedAmount > 0) return
    if (this.unheard >= 2) {
      this.socket.terminate()
      return
    }
    this.unheard++
    this.socket.ping()
  }
}

const TEXT = { binary: false } as const
const SLOW = 'the client reads too slowly'
