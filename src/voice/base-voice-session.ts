import type { CanonicalError } from '../canonical/error.ts'
import type { Usage } from '../canonical/result.ts'
import { BackPressure } from './back-pressure.ts'
import { GOING_AWAY, NORMAL, POLICY_VIOLATION, relayedCode, TRY_AGAIN_LATER } from './closing.ts'
import { eventFailure } from './event-failure.ts'
import type { SessionLimits } from './limits.ts'
import { ResponseCounter } from './response-counter.ts'
import type { SessionSocket } from './session-socket.ts'
import type { SessionEnd, UpstreamSide } from './upstream.ts'
import { UsageMeter } from './usage-meter.ts'
import type { SessionRecord, VoiceSession } from './voice-session.ts'

/** Objects that every kind of voice session needs. */
export interface SessionParts {
  readonly caller: SessionSocket
  readonly upstream: UpstreamSide
  readonly record: SessionRecord
  readonly limits: SessionLimits
  /** Removes information from an upstream's error that would reveal the upstream. */
  readonly publicError: (error: CanonicalError) => CanonicalError
  /** Removes information from an upstream's text that would reveal the upstream. */
  readonly scrub: (text: string) => string
}

/** Phase of a session. `closing` lasts until both connections are closed. */
type Phase = 'open' | 'running' | 'closing' | 'closed'

/**
 * The life cycle of a voice session: limits, back-pressure, responses and its end. Subclasses handle the caller's
 * frames and the upstream's output.
 */
export abstract class BaseVoiceSession<O extends SessionParts> implements VoiceSession {
  readonly closed: Promise<void>
  protected readonly options: O
  protected readonly responses: ResponseCounter
  /** Meter of the speech and text since the upstream's last usage report. */
  protected readonly meter = new UsageMeter()
  private readonly bothClosed = Promise.withResolvers<void>()
  private readonly upstreamPressure: BackPressure
  private readonly callerPressure: BackPressure
  /** True if the upstream's last event was an `error`, which explains the end that follows. */
  protected hasExplained = false
  private phase: Phase = 'open'
  /** True if the session ends once the running responses have ended. */
  private isFinishing = false
  private lastFrame = performance.now()
  private idleTimer: NodeJS.Timeout | undefined
  private lifetimeTimer: NodeJS.Timeout | undefined

  constructor(options: O) {
    const { caller, upstream, record } = options
    this.options = options
    this.closed = this.bothClosed.promise
    this.responses = new ResponseCounter(() => record.admit())
    this.upstreamPressure = new BackPressure(caller, upstream)
    this.callerPressure = new BackPressure(upstream, caller)
  }

  /** Starts reading the caller's frames and enforcing the limits. */
  start(): void {
    const { caller, limits } = this.options
    this.phase = 'running'
    this.lifetimeTimer = setTimeout(() => this.end(GOING_AWAY, EXPIRED), limits.lifetime)
    this.idleTimer = setTimeout(this.checkIdle, limits.idle)
    caller.listen({
      frame: (data, isBinary) => this.frame(data, isBinary),
      onDrain: () => this.callerPressure.onDrain(),
      stalled: () => this.end(TRY_AGAIN_LATER, undefined, TOO_SLOW),
      closed: (code, reason) => this.end(code === ABNORMAL ? GOING_AWAY : relayedCode(code), undefined, reason),
    })
  }

  finish(): void {
    this.isFinishing = true
    this.stopIfFinished()
  }

  stop(): void {
    this.end(GOING_AWAY, SHUTTING_DOWN)
  }

  refuse(why: CanonicalError): void {
    this.end(POLICY_VIOLATION, why, why.message)
  }

  terminate(): void {
    const { caller, upstream } = this.options
    this.end(GOING_AWAY)
    caller.terminate()
    upstream.terminate()
  }

  /** Called when the upstream has accepted some of its buffered input. */
  onDrain(): void {
    this.upstreamPressure.onDrain()
  }

  /** Called when the upstream's side has ended. */
  ended({ code, reason, error }: SessionEnd): void {
    if (this.isOver) return
    const unreportedError = this.hasExplained ? undefined : error?.error
    if (unreportedError !== undefined) this.options.record.recordError(unreportedError)
    this.end(code, unreportedError && this.options.publicError(unreportedError), this.options.scrub(reason))
  }

  /** Handles a text frame from the caller. */
  protected abstract fromCaller(data: Buffer): void

  /** Returns the frames of an `error` event. `event` is the id of the client event that caused the error. */
  protected abstract errorFrames(error: CanonicalError, event?: string): readonly string[]

  /** Asks the upstream to cancel a response. */
  protected abstract cancel(response: string): void

  /** Releases resources other than the connections. Called once. */
  protected release(): void {}

  protected get isOver(): boolean {
    return this.phase === 'closing' || this.phase === 'closed'
  }

  protected toCaller(frame: string | Buffer): void {
    if (this.isOver) return
    this.lastFrame = performance.now()
    this.options.caller.send(frame)
    if (!this.isOver) this.callerPressure.written()
  }

  /** Sends an `error` event to the caller. The session continues. */
  protected fail(error: CanonicalError, event?: string): void {
    for (const frame of this.errorFrames(error, event)) this.toCaller(frame)
  }

  /** Registers a response that has started. Cancels it if the key has reached a limit. */
  protected responseBegan(response: string): void {
    try {
      this.responses.began(response)
    } catch (thrown) {
      this.fail(eventFailure(thrown, 'invalid-request'))
      this.cancel(response)
    }
  }

  /**
   * Charges a response that has ended. One that its upstream does not count costs an estimate at once, so that the budget
   * admits no further ones.
   *
   * @param isFinal true if its usage cannot arrive later.
   */
  protected responseEnded(response: string, usage: Usage | undefined, isFinal: boolean): void {
    const { meter } = this
    const { record } = this.options
    const counted = usage !== undefined && meter.counts(usage) ? usage : undefined
    const estimate = counted === undefined && isFinal ? meter.estimate : undefined
    this.responses.ended(response)
    if (estimate === undefined) record.recordUsage(counted)
    else record.recordEstimate(estimate)
    const charged = counted ?? estimate
    if (charged !== undefined) meter.report(charged)
  }

  /** Ends the session if the key's budget is spent. Called after a transcription, because nothing admits the next. */
  protected stopIfSpent(): void {
    this.options.record.checkBudget(refusal => this.refuse(refusal))
  }

  /** Ends the session if it is finishing and no response is running. */
  protected stopIfFinished(): void {
    if (this.isFinishing && this.responses.isIdle) this.stop()
  }

  private frame(data: Buffer, isBinary: boolean): void {
    this.lastFrame = performance.now()
    if (isBinary) this.fail(BINARY_FRAME)
    else this.fromCaller(data)
    if (!this.isOver) this.upstreamPressure.written()
  }

  /**
   * Closes both sides with the same code and reason. Has no effect the second time. If there is an error, it is sent to
   * the caller first.
   */
  private end(code: number, error?: CanonicalError, reason = error?.code ?? ''): void {
    if (this.isOver) return
    if (error !== undefined) this.fail(error)
    if (this.isOver) return
    this.phase = 'closing'
    clearTimeout(this.lifetimeTimer)
    clearTimeout(this.idleTimer)
    const { caller, upstream, record } = this.options
    caller.close(code, reason)
    upstream.close(code, reason)
    this.release()
    const unreported = this.meter.estimate
    if (unreported !== undefined) record.recordEstimate(unreported)
    record.ended(code)
    void Promise.all([caller.closed, upstream.closed]).then(() => {
      this.phase = 'closed'
      this.bothClosed.resolve()
    })
  }

  private readonly checkIdle = (): void => {
    const rest = this.options.limits.idle - (performance.now() - this.lastFrame)
    if (rest > 0) this.idleTimer = setTimeout(this.checkIdle, rest)
    else this.end(NORMAL, IDLE_TIMEOUT_ERROR)
  }
}

/** Code for a connection that was closed without a close frame (RFC 6455, section 7.4.1). */
const ABNORMAL = 1006

const TOO_SLOW = 'the client reads too slowly'

const BINARY_FRAME: CanonicalError = {
  kind: 'invalid-request',
  code: 'invalid_frame',
  message: 'Frames must be text.',
}

/** Error that is sent before a shutdown. */
const SHUTTING_DOWN: CanonicalError = {
  kind: 'overloaded',
  code: 'server_shutdown',
  message: 'The gateway is shutting down. Open a new session.',
}

const IDLE_TIMEOUT_ERROR: CanonicalError = {
  kind: 'timed-out',
  code: 'session_idle',
  message: 'The session was idle for too long.',
}

const EXPIRED: CanonicalError = {
  kind: 'timed-out',
  code: 'session_expired',
  message: 'The session reached its maximum duration.',
}
