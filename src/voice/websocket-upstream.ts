import type { GatewayError } from '../canonical/error.ts'
import type { Loss } from '../canonical/loss.ts'
import type { ClientEvent } from '../canonical/voice-session-event.ts'
import { endOf, INTERNAL, NORMAL, TRY_AGAIN_LATER } from './closing.ts'
import { eventFailure } from './event-failure.ts'
import type { Protocol, Step } from './protocol.ts'
import type { SessionSocket } from './session-socket.ts'
import type { SessionEnd, Upstream, UpstreamListener } from './upstream.ts'
import { CALLER_DISCONNECTED, closedEarly, SESSION_LOST, SESSION_TIMED_OUT } from './upstream-errors.ts'

export interface WebSocketUpstreamOptions {
  readonly protocol: Protocol
  readonly listener: UpstreamListener
  /** Opens a connection to the protocol's address. Rejects with GatewayError. */
  dial(signal: AbortSignal): Promise<SessionSocket>
  /** Maximum time until the first event arrives, in milliseconds. */
  readonly firstEvent: number
}

/** Maximum number of client events queued during a reconnect. */
const MAX_QUEUED_EVENTS = 2000
/** Maximum number of attempts per reconnect. */
const MAX_RECONNECTS = 2

/**
 * An upstream session over WebSockets. It has one connection at a time and replaces that connection when the protocol
 * requests a reconnect.
 */
export class WebSocketUpstream implements Upstream {
  readonly audio: Protocol['audio']
  readonly countsLate: boolean
  readonly closed: Promise<void>
  private readonly options: WebSocketUpstreamOptions
  private readonly protocol: Protocol
  private readonly aborting = new AbortController()
  private readonly first = Promise.withResolvers<void>()
  private readonly disconnected = Promise.withResolvers<void>()
  private readonly timer: NodeJS.Timeout
  private socket: SessionSocket | undefined
  private queuedEvents: ClientEvent[] | undefined
  private waitingBytes = 0
  private over = false
  private hasStarted = false
  private paused = false

  private constructor(options: WebSocketUpstreamOptions) {
    this.options = options
    this.protocol = options.protocol
    this.audio = options.protocol.audio
    this.countsLate = options.protocol.countsLate === true
    this.timer = setTimeout(() => this.fail(SESSION_TIMED_OUT), options.firstEvent)
    this.closed = this.disconnected.promise
  }

  /**
   * Connects, and resolves when the first event arrives. The listener receives this event afterwards.
   *
   * @throws GatewayError if another upstream may be tried.
   */
  static async open(options: WebSocketUpstreamOptions, signal: AbortSignal): Promise<WebSocketUpstream> {
    const upstream = new WebSocketUpstream(options)
    const leave = (): void => upstream.fail(CALLER_DISCONNECTED)
    signal.addEventListener('abort', leave, { once: true })
    try {
      const connecting = options.dial(AbortSignal.any([signal, upstream.aborting.signal]))
      // Until a connection is attached, `first` can only reject, with the reason why dialing was aborted.
      upstream.attach((await Promise.race([connecting, upstream.first.promise])) as SessionSocket)
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
    if (this.queuedEvents === undefined) this.run(this.protocol.client(event))
    else if (this.queuedEvents.length < MAX_QUEUED_EVENTS) {
      this.queuedEvents.push(event)
      this.waitingBytes += sizeOf(event)
    } else this.end({ code: TRY_AGAIN_LATER, reason: 'upstream is reconnecting', error: SESSION_LOST })
  }

  get buffered(): number {
    return this.waitingBytes + (this.socket?.buffered ?? 0)
  }

  pause(): void {
    this.paused = true
    this.socket?.pause()
  }

  resume(): void {
    this.paused = false
    this.socket?.resume()
  }

  close(code: number, reason: string): void {
    this.leave()
    this.socket?.close(code, reason)
  }

  terminate(): void {
    this.leave()
    this.socket?.terminate()
  }

  private attach(socket: SessionSocket): void {
    if (this.over) {
      socket.close(INTERNAL, '')
      return
    }
    this.socket?.close(NORMAL, '')
    this.socket = socket
    this.run(this.protocol.opened())
    if (this.paused) socket.pause()
    socket.listen({
      frame: data => {
        if (socket === this.socket) this.receive(data.toString())
      },
      onDrain: () => this.options.listener.onDrain(),
      stalled: () => socket.terminate(),
      closed: (code, reason) => {
        if (socket === this.socket && !this.over) this.onClose(code, reason)
      },
    })
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
    if (this.protocol.binary === true) this.socket?.send(Buffer.from(frame), BINARY_FRAME)
    else this.socket?.send(frame)
  }

  private markStarted(): void {
    if (this.hasStarted) return
    this.hasStarted = true
    clearTimeout(this.timer)
    this.first.resolve()
  }

  private onClose(code: number, reason: string): void {
    const step = this.protocol.closed(code, reason)
    if (!this.hasStarted && step.reconnect !== true) {
      this.fail(closedEarly(code))
      return
    }
    this.run(step)
    if (this.over || step.reconnect === true) return
    this.end(endOf(code, reason))
  }

  private reconnect(attempts = 0): void {
    if (this.queuedEvents !== undefined && attempts === 0) return
    this.queuedEvents ??= []
    this.options.dial(this.aborting.signal).then(
      socket => {
        const events = this.queuedEvents ?? []
        this.queuedEvents = undefined
        this.waitingBytes = 0
        this.attach(socket)
        for (const event of events) this.send(event)
        this.options.listener.onDrain()
      },
      () => {
        if (this.over) return
        if (attempts + 1 < MAX_RECONNECTS) this.reconnect(attempts + 1)
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

  /** Fails the session. Before the first event, this rejects `open`. Afterwards, it ends the session. */
  private fail(error: GatewayError): void {
    this.end({ code: INTERNAL, reason: '', error })
  }

  private leave(): void {
    if (this.over) return
    this.over = true
    this.queuedEvents = undefined
    this.waitingBytes = 0
    this.aborting.abort()
    clearTimeout(this.timer)
    this.first.promise.catch(() => {})
    void (this.socket?.closed ?? Promise.resolve()).then(this.disconnected.resolve)
  }
}

/** Returns the approximate size of an event in bytes. */
const sizeOf = (event: ClientEvent): number =>
  event.type === 'audio-append' ? event.audio.length : JSON.stringify(event).length

/** Option of `ws` for sending a buffer as a binary frame. */
const BINARY_FRAME = { binary: true } as const
