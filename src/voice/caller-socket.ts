import type { RawData, WebSocket } from 'ws'
import { closeSocket, TRY_AGAIN_LATER } from './closing.ts'
import { HIGH_WATER_MARK, LOW_WATER_MARK } from './limits.ts'

export interface CallerLimits {
  /** Maximum output that may be buffered for a slow caller, in bytes. */
  readonly buffer: number
  /**
   * Time limits in milliseconds: `idle` for the time without a message in either direction, `lifetime` for the whole
   * session.
   */
  readonly idle: number
  readonly lifetime: number
  /** Interval between pings, in milliseconds. The connection is terminated after two pings without an answer. */
  readonly heartbeat: number
}

export interface CallerListener {
  /** Receives a text frame. */
  frame(data: Buffer): void
  /** Receives a binary frame. Voice formats use only text frames. */
  binary(): void
  /** Called when the output buffer has drained. */
  drained(): void
  /** Called when the idle or lifetime limit was reached. */
  expired(why: 'idle' | 'lifetime'): void
  /** Called once, when either side has closed the connection. */
  callerClosed(code: number, reason: string): void
}

/** Option of `ws` that sends a buffer as a text frame. */
export const TEXT_FRAME = { binary: false } as const

/** The caller's WebSocket, with its output buffer, heartbeat and time limits. */
export class CallerSocket {
  private readonly socket: WebSocket
  private readonly limits: CallerLimits
  private listener: CallerListener | undefined
  private readonly timers: NodeJS.Timeout[] = []
  private ending = false
  private slow = false
  /**
   * Number of consecutive heartbeats without a message or pong from the caller, and with output that does not drain.
   */
  private missedPongs = 0
  private stalledHeartbeats = 0
  private lastActivity = performance.now()

  constructor(socket: WebSocket, limits: CallerLimits) {
    this.socket = socket
    this.limits = limits
    socket.pause()
    socket.on('error', () => socket.terminate())
  }

  /** Starts to read frames and to enforce the limits. */
  start(listener: CallerListener): void {
    this.listener = listener
    const { socket, limits } = this
    this.timers.push(setInterval(this.checkHeartbeat, limits.heartbeat))
    this.timers.push(setTimeout(() => this.listener!.expired('lifetime'), limits.lifetime))
    socket.on('message', this.receive)
    socket.on('pong', () => (this.missedPongs = 0))
    socket.on('ping', () => this.checkBuffer())
    socket.once('close', (code, reason) => {
      this.ending = true
      for (const timer of this.timers) clearTimeout(timer)
      this.listener!.callerClosed(code, reason.toString())
    })
    if (socket.readyState === socket.CLOSED) socket.emit('close', 1006, Buffer.alloc(0))
    else socket.resume()
  }

  /** Sends one text frame. Returns false if the caller is behind. `drained` is called once it has caught up. */
  send(frame: string | Buffer): boolean {
    if (this.ending) return true
    this.lastActivity = performance.now()
    this.socket.send(frame, TEXT_FRAME, this.onSent)
    if (!this.checkBuffer()) return false
    this.slow ||= this.socket.bufferedAmount > HIGH_WATER_MARK
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

  terminate(): void {
    this.ending = true
    this.socket.terminate()
  }

  private checkBuffer(): boolean {
    if (this.socket.bufferedAmount <= this.limits.buffer) return true
    this.close(TRY_AGAIN_LATER, TOO_SLOW)
    return false
  }

  private readonly receive = (data: RawData, isBinary: boolean): void => {
    if (this.ending) return
    this.missedPongs = 0
    this.lastActivity = performance.now()
    if (isBinary) this.listener!.binary()
    else this.listener!.frame(Array.isArray(data) ? Buffer.concat(data) : (data as Buffer))
  }

  private readonly onSent = (): void => {
    if (!this.slow || this.socket.bufferedAmount > LOW_WATER_MARK) return
    this.slow = false
    this.stalledHeartbeats = 0
    this.listener!.drained()
  }

  private readonly checkHeartbeat = (): void => {
    if (this.ending) return
    if (this.slow && ++this.stalledHeartbeats > 2) {
      this.close(TRY_AGAIN_LATER, TOO_SLOW)
      return
    }
    if (performance.now() - this.lastActivity > this.limits.idle) {
      this.listener!.expired('idle')
      return
    }
    // A paused socket delivers no pongs, so that the heartbeat does not ping.
    if (this.socket.isPaused || this.socket.bufferedAmount > 0) return
    if (this.missedPongs >= 2) {
      this.socket.terminate()
      return
    }
    this.missedPongs++
    this.socket.ping()
  }
}

const TOO_SLOW = 'the client reads too slowly'
