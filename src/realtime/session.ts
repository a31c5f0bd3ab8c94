import type { CanonicalError } from '../canonical/error.ts'
import type { ClientEvent, ServerEvent } from '../canonical/session-event.ts'
import type { OnLoss } from '../config/index.ts'
import { type AudioPath, isFormatChange } from './audio-path.ts'
import type { CallerListener, CallerSocket } from './caller-socket.ts'
import { GOING_AWAY, NORMAL, POLICY_VIOLATION, passedOn } from './closing.ts'
import { eventFailure } from './event-failure.ts'
import { EXPIRED, type LiveSession, type SessionRecord, STOPPING } from './live-session.ts'
import { addBounded, MOST_RUNNING } from './running.ts'
import type { SessionEnd, Upstream, UpstreamListener } from './upstream.ts'

/** A caller's format: its frames as events, and events as its frames. */
export interface CallerFormat {
  /** @throws GatewayError `invalid-request`; the session goes on. */
  read(frame: string): ClientEvent
  /** The client's id of the event in a frame that could not be read. */
  eventId(frame: string): string | undefined
  write(event: ServerEvent): readonly string[]
}

export interface SessionOptions {
  readonly caller: CallerSocket
  readonly format: CallerFormat
  readonly upstream: Upstream
  readonly audio: AudioPath
  readonly record: SessionRecord
  readonly onLoss: OnLoss
  /** What the caller calls the model. */
  readonly model: string
  /** An upstream's error as a caller may see it. */
  readonly shown: (error: CanonicalError) => CanonicalError
  /** The same for a text of the upstream's. */
  readonly scrub: (text: string) => string
}

/** Bytes that may wait for the upstream before the caller is not read any more, and how often that is looked at, in milliseconds. */
const HIGH = 256 * 1024
const LOOK = 20

/** A caller and an upstream of different formats: canonical events between them, audio converted both ways. */
export class RealtimeSession implements LiveSession, CallerListener, UpstreamListener {
  readonly closed: Promise<void>
  private readonly options: SessionOptions
  private readonly settled = Promise.withResolvers<void>()
  private readonly running = new Set<string>()
  private requested = 0
  private finishing = false
  private over = false
  /** Frames wait while audio converters are made. */
  private held: ClientEvent[] | undefined
  private looking: NodeJS.Timeout | undefined

  constructor(options: SessionOptions) {
    this.options = options
    this.closed = this.settled.promise
  }

  start(): void {
    this.options.caller.start(this)
  }

  finish(): void {
    this.finishing = true
    if (this.running.size === 0) this.stop()
  }

  stop(): void {
    this.farewell(STOPPING, GOING_AWAY)
  }

  refuse(why: CanonicalError): void {
    this.farewell(why, POLICY_VIOLATION)
  }

  cut(): void {
    this.end(GOING_AWAY, '')
    this.options.caller.cut()
  }

  frame(data: Buffer): void {
    const { format } = this.options
    const text = data.toString()
    try {
      this.take(format.read(text))
    } catch (thrown) {
      this.fail(eventFailure(thrown, 'invalid-request'), format.eventId(text))
    }
  }

  binary(): void {
    this.fail({ kind: 'invalid-request', code: 'invalid_frame', message: 'A frame must be text.' })
  }

  drained(): void {
    if (!this.over) this.options.upstream.resume()
  }

  expired(why: 'idle' | 'lifetime'): void {
    this.farewell(EXPIRED[why], why === 'idle' ? NORMAL : GOING_AWAY)
  }

  left(code: number, reason: string): void {
    this.end(code === 1006 ? GOING_AWAY : passedOn(code), reason)
    this.settled.resolve()
  }

  event(event: ServerEvent): void {
    if (this.over) return
    try {
      this.deliver(event)
    } catch (thrown) {
      this.fail(eventFailure(thrown, 'upstream-failed'))
    }
  }

  private deliver(event: ServerEvent): void {
    if (event.type === 'response-start') this.began(event.response)
    if (event.type === 'response-end') this.running.delete(event.response)
    if (event.type === 'response-end' || event.type === 'input-transcript-done') this.options.record.spent(event.usage)
    this.write(this.shown(event))
    if (event.type === 'response-end' && this.finishing && this.running.size === 0) this.stop()
  }

  ended({ code, reason, error }: SessionEnd): void {
    if (this.over) return
    if (error !== undefined) this.fail(this.options.shown(error.error))
    this.end(code, this.options.scrub(reason))
  }

  private take(event: ClientEvent): void {
    if (this.held !== undefined) this.held.push(event)
    else if (isFormatChange(event)) this.reformat(event)
    else this.pass(event)
  }

  /** Converters are made while the caller waits. */
  private reformat(event: ClientEvent): void {
    const { audio, caller } = this.options
    this.held = []
    caller.pause()
    audio
      .change(event)
      .then(
        () => this.attempt(event, () => this.pass(event)),
        thrown => this.fail(eventFailure(thrown, 'invalid-request'), event.id),
      )
      .finally(() => {
        const held = this.held ?? []
        this.held = undefined
        if (this.over) return
        for (const one of held) this.attempt(one, () => this.take(one))
        if (this.looking === undefined && this.held === undefined) caller.resume()
      })
  }

  /** Does the work of an event; what it throws is an `error` event. */
  private attempt(event: ClientEvent, work: () => void): void {
    try {
      work()
    } catch (thrown) {
      this.fail(eventFailure(thrown, 'invalid-request'), event.id)
    }
  }

  private pass(event: ClientEvent): void {
    const { upstream, audio, record, onLoss } = this.options
    if (this.over) return
    if (!this.isAllowed(event)) return
    const losses = upstream.losses(event)
    record.lost(losses)
    const lost = losses.find(({ restored }) => restored !== true)
    if (lost !== undefined && onLoss === 'refuse') {
      this.fail(refusal(lost.path, lost.reason), event.id)
      return
    }
    if (event.type === 'response-create') {
      record.admit()
      this.requested++
    }
    for (const one of audio.incoming(event)) upstream.send(one)
    this.checkUpstream()
  }

  private isAllowed(event: ClientEvent): boolean {
    if (event.type !== 'session-update') return true
    const { model } = event.settings
    if (model === undefined || model === this.options.model) return true
    this.fail(OTHER_MODEL, event.id)
    return false
  }

  /** A response that turn detection begins is counted like a requested one. */
  private began(response: string): void {
    addBounded(this.running, response, MOST_RUNNING)
    if (this.requested > 0) {
      this.requested--
      return
    }
    try {
      this.options.record.admit()
    } catch (thrown) {
      this.fail(eventFailure(thrown, 'invalid-request'))
      this.options.upstream.send({ type: 'response-cancel', response })
    }
  }

  /** With the caller's model, and nothing that identifies the upstream. */
  private shown(event: ServerEvent): ServerEvent {
    const { model, shown } = this.options
    if (event.type === 'session-created' || event.type === 'session-updated')
      return { ...event, settings: { ...event.settings, model } }
    if (event.type === 'error') {
      this.requested = Math.max(0, this.requested - 1)
      this.options.record.failed(event.error)
      return { ...event, error: shown(event.error) }
    }
    if (event.type === 'input-transcript-failed') return { ...event, error: shown(event.error) }
    if (event.type === 'response-end' && event.error !== undefined) return { ...event, error: shown(event.error) }
    return event
  }

  private write(event: ServerEvent): void {
    const { caller, format, audio, upstream } = this.options
    for (const one of audio.outgoing(event))
      for (const frame of format.write(one)) if (!caller.send(frame) && !this.over) upstream.pause()
  }

  private fail(error: CanonicalError, event?: string): void {
    const { caller, format } = this.options
    const frames = format.write({ type: 'error', error, ...(event === undefined ? {} : { event }) })
    for (const frame of frames) caller.send(frame)
  }

  private farewell(error: CanonicalError, code: number): void {
    if (this.over) return
    this.fail(error)
    this.end(code, error.code!)
  }

  private end(code: number, reason: string): void {
    if (this.over) return
    this.over = true
    clearInterval(this.looking)
    const { caller, upstream, audio, record } = this.options
    caller.close(code, reason)
    upstream.close(code, reason)
    audio.close()
    record.ended(code)
  }

  /** An upstream that is behind: the caller is not read until it has caught up. */
  private checkUpstream(): void {
    const { upstream, caller } = this.options
    if (this.looking !== undefined || upstream.buffered <= HIGH) return
    caller.pause()
    this.looking = setInterval(() => {
      if (upstream.buffered > HIGH / 4) return
      clearInterval(this.looking)
      this.looking = undefined
      if (this.held === undefined) caller.resume()
    }, LOOK)
  }
}

const refusal = (path: readonly (string | number)[], reason: string): CanonicalError => ({
  kind: 'cannot-express',
  code: 'cannot_express',
  param: path.join('.'),
  message: `'${path.join('.')}' has no equivalent at the upstream (${reason}), and this key refuses losses.`,
})

const OTHER_MODEL: CanonicalError = {
  kind: 'invalid-request',
  code: 'model_not_changeable',
  param: 'session.model',
  message: 'The model of a session cannot be changed.',
}
