import type { RawData, WebSocket } from 'ws'
import type { JsonObject } from '../canonical/node.ts'
import { toFailure } from '../gateway/failures.ts'
import { MAX_MISSED_HEARTBEATS } from '../gateway/index.ts'
import { type CreateFrame, errorEvent, readFrame, withLane } from '../gateway/stored/index.ts'
import { SocketReply, type Wire } from './socket-reply.ts'

export interface SocketOptions {
  /** Maximum duration of a connection, in milliseconds. */
  readonly lifetime: number
  /** Maximum idle time, in milliseconds. */
  readonly idle: number
  /** Time between heartbeats, in milliseconds. */
  readonly heartbeat: number
  /** Maximum number of turns that may wait while another is being answered. */
  readonly queue: number
  /** Maximum total length of the waiting turns, in characters. */
  readonly size: number
  readonly reportsLosses: boolean
  /** Counts the bytes of waiting turns. It is closed with the connection. */
  readonly meter: { take(bytes: number): void; give(bytes: number): void; close(): void }
  /**
   * Counts the memory of a turn until it is released. Undefined for a small frame.
   *
   * @throws GatewayError if there is no memory for the turn.
   */
  weigh(frame: Buffer): { release(): void } | undefined
  /** Answers one turn. Resolves once the turn has been answered. Never rejects. */
  answer(turn: CreateFrame, reply: SocketReply): Promise<void>
}

/** Number of characters buffered for a slow reader above which the upstream is paused. */
const PAUSE_ABOVE = 256 * 1024
/** Number of characters buffered for a slow reader below which the upstream is resumed. */
const RESUME_BELOW = 64 * 1024

/** WebSocket close codes (RFC 6455, section 7.4). */
const NORMAL = 1000
const GOING_AWAY = 1001
const TRY_AGAIN_LATER = 1013

/** Maximum time for sending a final event, in milliseconds. */
const LAST_EVENT_TIME = 1000

/** A turn that waits for its answer, with its memory. */
interface WaitingTurn {
  readonly frame: CreateFrame
  readonly memory: { release(): void } | undefined
}

/** One WebSocket connection of the responses format. Answers turns one after another. */
export class ResponsesSocket implements Wire {
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>
  private readonly socket: WebSocket
  private readonly options: SocketOptions
  private readonly timers: readonly NodeJS.Timeout[]
  private queue: WaitingTurn[] = []
  private current: SocketReply | undefined
  private drainListeners: (() => void)[] = []
  private closeRequest: { readonly code: number; readonly reason?: string; readonly event?: JsonObject } | undefined
  /** True if reading has stopped permanently. */
  private isOverflowing = false
  /** Number of heartbeats since the caller last sent anything. */
  private missedHeartbeats = 0
  private lastTurn = performance.now()

  constructor(socket: WebSocket, options: SocketOptions) {
    this.socket = socket
    this.options = options
    this.timers = [
      setInterval(this.beat, options.heartbeat),
      setTimeout(() => this.end(NORMAL, limitReached(options.lifetime)), options.lifetime),
    ]
    this.closed = new Promise(resolve => socket.once('close', resolve))
    socket.on('message', (data, isBinary) => this.receive(data, isBinary))
    socket.on('pong', () => (this.missedHeartbeats = 0))
    socket.on('error', () => socket.terminate())
    socket.once('close', this.onClose)
  }

  /** Closes the connection after the current turn, with a final event and a reason. Drops waiting turns. */
  end(code: number = GOING_AWAY, event?: JsonObject, reason = ''): void {
    if (this.closeRequest !== undefined) return
    this.closeRequest = { code, reason, ...(event === undefined ? {} : { event }) }
    this.dropQueue()
    if (this.current === undefined) this.close()
  }

  send(text: string): boolean {
    this.socket.send(text, this.onSent)
    return this.socket.bufferedAmount < PAUSE_ABOVE
  }

  onceDrained(listener: () => void): void {
    this.drainListeners.push(listener)
  }

  cut(): void {
    this.socket.terminate()
  }

  /**
   * Closes the connection in the middle of a message because too many bytes are waiting. The rest of the message stays
   * unread.
   */
  readonly overflow = (): void => {
    if (this.isOverflowing) return
    this.isOverflowing = true
    this.closeRequest ??= { code: TRY_AGAIN_LATER }
    this.dropQueue()
    this.sendEvent(OVERLOADED)
    this.socket.pause()
    this.socket.close(TRY_AGAIN_LATER)
    setTimeout(() => this.cut(), LAST_EVENT_TIME).unref()
  }

  private receive(data: RawData, isBinary: boolean): void {
    this.missedHeartbeats = 0
    if (this.closeRequest !== undefined) return
    if (isBinary) {
      this.answer(errorEvent('invalid_frame', 'Binary frames are not supported; send text frames.'))
      return
    }
    let memory: WaitingTurn['memory']
    try {
      memory = this.options.weigh(data as Buffer)
    } catch (thrown) {
      this.answer(noMemory(thrown))
      return
    }
    const frame = readFrame(String(data))
    if (frame.type === 'create' && !this.cannotQueue(frame)) {
      this.queue.push({ frame, memory })
      if (this.current === undefined) void this.answerQueue()
      return
    }
    memory?.release()
    if (frame.type === 'answer') this.answer(frame.event)
    else if (frame.type === 'create') this.answer(withLane(QUEUE_FULL, frame.lane))
  }

  private dropQueue(): void {
    for (const { memory } of this.queue) memory?.release()
    this.queue = []
  }

  /** Reserves buffer space for a waiting turn. Returns true if no space is left, on this connection or in total. */
  private cannotQueue({ size }: CreateFrame): boolean {
    const { queue, options } = this
    const queuedLength = queue.reduce((sum, { frame }) => sum + frame.size, 0)
    if (queue.length > 0 && (queue.length >= options.queue || queuedLength + size > options.size)) return true
    try {
      options.meter.take(size)
      return false
    } catch {
      options.meter.give(size)
      return true
    }
  }

  private async answerQueue(): Promise<void> {
    for (let turn = this.queue.shift(); turn !== undefined; turn = this.queue.shift()) {
      const { frame, memory } = turn
      this.options.meter.give(frame.size)
      const reply = new SocketReply({ wire: this, streamId: frame.lane, reportsLosses: this.options.reportsLosses })
      this.current = reply
      await this.options.answer(frame, reply)
      memory?.release()
      this.current = undefined
      this.lastTurn = performance.now()
    }
    if (this.closeRequest !== undefined) this.close()
  }

  private sendEvent(event: JsonObject): boolean {
    return this.send(JSON.stringify(event))
  }

  /** Answers a frame immediately. Stops reading from a caller that does not read its answers. */
  private answer(event: JsonObject): void {
    if (this.sendEvent(event) || this.socket.isPaused) return
    this.socket.pause()
    this.onceDrained(this.resume)
  }

  private readonly resume = (): void => {
    if (!this.isOverflowing) this.socket.resume()
  }

  private close(): void {
    const { code, reason, event } = this.closeRequest!
    if (event !== undefined) this.sendEvent(event)
    this.resume()
    this.socket.close(code, reason)
  }

  private readonly onSent = (): void => {
    if (this.drainListeners.length === 0 || this.socket.bufferedAmount > RESUME_BELOW) return
    const listeners = this.drainListeners
    this.drainListeners = []
    for (const listener of listeners) listener()
  }

  /**
   * Sends a ping, and closes the connection if its caller is idle or gone. A caller counts as gone if it has received
   * everything but does not answer pings. The running turn deals with callers that are merely slow.
   */
  private readonly beat = (): void => {
    if (this.current === undefined && performance.now() - this.lastTurn > this.options.idle) {
      this.end(NORMAL)
      return
    }
    if (this.socket.bufferedAmount > 0) return
    if (this.missedHeartbeats >= MAX_MISSED_HEARTBEATS) {
      this.cut()
      return
    }
    this.missedHeartbeats++
    this.socket.ping()
  }

  private readonly onClose = (): void => {
    for (const timer of this.timers) clearTimeout(timer)
    this.options.meter.close()
    this.dropQueue()
    this.closeRequest ??= { code: NORMAL }
    this.current?.abandon()
  }
}

const QUEUE_FULL = errorEvent('too_many_requests', 'Too many turns are waiting on this connection.', null, 429)

const OVERLOADED = errorEvent('server_is_overloaded', 'Too many requests are incomplete.', null, 503)

/** Returns the event for a turn for which there is no memory. */
function noMemory(thrown: unknown): JsonObject {
  const { kind, message } = toFailure(thrown).error
  return kind === 'too-large'
    ? errorEvent('request_too_large', message, null, 413)
    : errorEvent('server_is_overloaded', message, null, 503)
}

const limitReached = (lifetime: number): JsonObject =>
  errorEvent(
    'websocket_connection_limit_reached',
    `A connection may last at most ${Math.round(lifetime / 60_000)} minutes. Open a new connection to continue.`,
  )
