import type { RawData, WebSocket } from 'ws'
import { GatewayError } from '../canonical/error.ts'
import type { Loss } from '../canonical/loss.ts'
import type { ClientEvent } from '../canonical/voice-session-event.ts'
import { closeSocket, INTERNAL, relayedCode, TRY_AGAIN_LATER } from './closing.ts'
import { eventFailure } from './event-failure.ts'
import { Heartbeat } from './heartbeat.ts'
import type { Protocol, Step } from './protocol.ts'
import type { SessionEnd, Upstream, UpstreamListener } from './upstream.ts'
import { CALLER_DISCONNECTED, closedEarly, SESSION_TIMED_OUT } from './upstream-errors.ts'

export interface WebSocketUpstreamOptions {
  readonly protocol: Protocol
  readonly listener: UpstreamListener
  /** Opens a connection to the protocol's address. Rejects with GatewayError. */
  dial(signal: AbortSignal): Promise<WebSocket>
  /** Time until the first event must arrive, in milliseconds. */
  readonly firstEvent: number
  /** Interval between pings, in milliseconds. The connection is terminated after two pings without an answer. */
  readonly heartbeat: number
}

/** Maximum number of client events queued during a reconnect. */
const MOST_WAITING = 2000
/** Maximum number of attempts per reconnect. */
const MOST_RECONNECTS = 2

/**
 * An upstream session over WebSockets. Holds one connection at a time and replaces it when the protocol asks for a
 * reconnect.
 */
export class WebSocketUpstream implements Upstream {
  readonly audio: Protocol['audio']
  private readonly options: WebSocketUpstreamOptions
  private readonly protocol: Protocol
  private readonly aborting = new AbortController()
  private readonly first = Promise.withResolvers<void>()
  private readonly timer: NodeJS.Timeout
  private readonly pingTimer: NodeJS.Timeout
  private socket: WebSocket | undefined
  private waiting: ClientEvent[] | undefined
  private waitingBytes = 0
  private over = false
  private hasStarted = false
  private paused = false
  private readonly heartbeat = new Heartbeat()

  private constructor(options: WebSocketUpstreamOptions) {
    this.options = options
    this.protocol = options.protocol
    this.audio = options.protocol.audio
    this.timer = setTimeout(() => this.fail(SESSION_TIMED_OUT), options.firstEvent)
    this.pingTimer = setInterval(this.ping, options.heartbeat)
  }

  /**
   * Connects and resolves at the first event, which the listener receives afterwards.
   *
   * @throws GatewayError if another upstream may be tried.
   */
  static async open(options: WebSocketUpstreamOptions, signal: AbortSignal): Promise<WebSocketUpstream> {
    const upstream = new WebSocketUpstream(options)
    const leave = (): void => upstream.fail(CALLER_DISCONNECTED)
    signal.addEventListener('abort', leave, { once: true })
    try {
      const dialed = options.dial(AbortSignal.any([signal, upstream.aborting.signal]))
      // Until a connection is attached, `first` can only reject, with the reason why dialing was aborted.
      upstream.attach((await Promise.race([dialed, upstream.first.promise])) as WebSocket)
      await upstream.first.promise
      return upstream
    } catch (thrown) {
      upstream.close(INTERNAL, '')
      throw thrown
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  losses(event: ClientEvent): readonly Loss[] {
    return this.protocol.losses(event)
  }

  send(event: ClientEvent): void {
    if (this.over) return
    if (this.waiting === undefined) this.run(this.protocol.client(event))
    else if (this.waiting.length < MOST_WAITING) {
      this.waiting.push(event)
      this.waitingBytes += sizeOf(event)
    } else this.end({ code: TRY_AGAIN_LATER, reason: 'upstream is reconnecting', error: SESSION_LOST })
  }

  get buffered(): number {
    return this.waitingBytes + (this.socket?.bufferedAmount ?? 0)
  }

  pause(): void {
    this.paused = true
    this.socket?.pause()
  }

  resume(): void {
    this.paused = false
    if (this.hasStarted) this.socket?.resume()
  }

  close(code: number, reason: string): void {
    if (this.over) return
    this.stop()
    if (this.socket !== undefined) closeSocket(this.socket, code, reason)
  }

  private attach(socket: WebSocket): void {
    if (this.over) {
      closeSocket(socket, INTERNAL, '')
      return
    }
    const before = this.socket
    this.socket = socket
    this.heartbeat.answered()
    if (before !== undefined) closeSocket(before, 1000, '')
    socket.on('message', data => {
      this.heartbeat.answered()
      if (socket === this.socket) this.receive(textOf(data))
    })
    socket.on('pong', () => this.heartbeat.answered())
    socket.on('close', (code, reason) => {
      if (socket === this.socket && !this.over) this.lost(code, reason.toString())
    })
    this.run(this.protocol.opened())
    if (!this.paused) socket.resume()
  }

  private receive(frame: string): void {
    try {
      this.run(this.protocol.server(frame))
    } catch (thrown) {
      this.run({ events: [{ type: 'error', error: eventFailure(thrown, 'upstream-failed') }] })
    }
  }

  private run(step: Step): void {
    if (this.over) return
    for (const frame of step.send ?? []) this.write(frame)
    if (step.refused !== undefined && !this.hasStarted) {
      this.fail(step.refused)
      return
    }
    for (const event of step.events ?? []) {
      if (this.over) return
      this.markStarted()
      this.options.listener.event(event)
    }
    if (step.end !== undefined) this.end(step.end)
    else if (step.reconnect === true) this.reconnect()
  }

  private write(frame: string): void {
    if (this.socket?.readyState === this.socket?.OPEN)
      this.socket!.send(this.protocol.binary === true ? Buffer.from(frame) : frame)
  }

  private markStarted(): void {
    if (this.hasStarted) return
    this.hasStarted = true
    clearTimeout(this.timer)
    this.first.resolve()
  }

  private lost(code: number, reason: string): void {
    const step = this.protocol.closed(code, reason)
    if (!this.hasStarted && step.reconnect !== true) {
      this.fail(closedEarly(code))
      return
    }
    this.run(step)
    if (this.over || step.reconnect === true) return
    const error = code === 1000 || code === 1005 ? {} : { error: SESSION_LOST }
    this.end({ code: relayedCode(code), reason, ...error })
  }

  private reconnect(attempts = 0): void {
    if (this.waiting !== undefined && attempts === 0) return
    this.waiting ??= []
    this.options.dial(this.aborting.signal).then(
      socket => {
        const queued = this.waiting ?? []
        this.waiting = undefined
        this.waitingBytes = 0
        this.attach(socket)
        for (const event of queued) this.send(event)
      },
      () => {
        if (this.over) return
        if (attempts + 1 < MOST_RECONNECTS) this.reconnect(attempts + 1)
        else this.end({ code: INTERNAL, reason: 'upstream lost', error: SESSION_LOST })
      },
    )
  }

  private end(end: SessionEnd): void {
    if (this.over) return
    if (!this.hasStarted) this.first.reject(end.error ?? SESSION_LOST)
    this.close(end.code, end.reason)
    if (this.hasStarted) this.options.listener.ended(end)
  }

  /** Fails the session: rejects `open` before the first event, and ends the session afterwards. */
  private fail(error: GatewayError): void {
    this.end({ code: INTERNAL, reason: '', error })
  }

  private stop(): void {
    this.over = true
    this.waiting = undefined
    this.waitingBytes = 0
    this.aborting.abort()
    clearTimeout(this.timer)
    clearInterval(this.pingTimer)
    this.first.promise.catch(() => {})
  }

  private readonly ping = (): void => {
    const { socket } = this
    if (socket !== undefined && !this.paused) this.heartbeat.ping(socket)
  }
}

/** Returns the approximate size of an event in bytes. */
const sizeOf = (event: ClientEvent): number =>
  event.type === 'audio-append' ? event.audio.length : JSON.stringify(event).length

/** Returns the text of a frame, in whichever representation `ws` delivers it. */
export const textOf = (data: RawData): string =>
  Array.isArray(data) ? Buffer.concat(data).toString() : Buffer.from(data as Buffer).toString()

const SESSION_LOST = new GatewayError({ kind: 'upstream-failed', message: 'The upstream ended the session.' })
