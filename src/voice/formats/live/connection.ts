import { type CanonicalError, type ErrorKind, GatewayError } from '../../../canonical/error.ts'
import type { JsonObject } from '../../../canonical/node.ts'
import { GOING_AWAY, relayedCode, TOO_BIG } from '../../closing.ts'
import type { SessionEnd } from '../../upstream.ts'

/**
 * Maximum size of each input buffer, in characters. The buffers are: frames before `setupComplete`, stored items and
 * turns, and deferred frames.
 */
export const MAX_BUFFERED = 8 * 2 ** 20

/** Maximum number of consecutive connections that end before the upstream has answered anything. */
const MAX_RECONNECTS = 3

/**
 * Maximum number of consecutive connections that are left although they are new, because the upstream announces their
 * end at once, as it does while all its servers are being replaced. The last one is used until it is closed.
 */
const MAX_QUICK_MOVES = 3
/** Age below which a connection is new, in milliseconds. */
const NEW_AGE = 2000

/**
 * Close codes after which another connection would also fail: normal closure, invalid data, policy violation (RFC 6455,
 * section 7.4.1).
 */
const FINAL_CODES: ReadonlySet<number> = new Set([1000, 1007, 1008])

/**
 * State of the consecutive connections to the upstream. `setup` is sent first. All other frames are buffered until
 * `setupComplete`. The phase `moving` lasts from the request for a new connection until it is open.
 */
export class Connection {
  /** Frames to send now. */
  private frames: string[] = []
  private queued: string[] = []
  private queuedSize = 0
  private phase: 'new' | 'setup' | 'ready' | 'moving' = 'new'
  private readonly resumption: boolean
  private handle: string | undefined
  private isResumable = false
  /** True once the upstream has announced that it will close the connection. */
  private isLeaving = false
  /** Current setup of the connection. */
  private setup: string | undefined
  /** True once a frame was sent after the setup. */
  private isUsed = false
  /** True if the current setup differs from the requested one. */
  private isStale = false
  private moves = 0
  private quickMoves = 0
  /** Start of the current connection, by `performance.now()`. */
  private startedAt = 0
  /** End of the session. Set if the session cannot continue. */
  end: SessionEnd | undefined

  constructor(resumption: boolean) {
    this.resumption = resumption
  }

  get isReady(): boolean {
    return this.phase === 'ready'
  }

  get isNew(): boolean {
    return this.phase === 'new'
  }

  /**
   * True if a changed setup can still take effect, either before the first frame or by resuming the session on a new
   * connection.
   */
  get mayChange(): boolean {
    return !this.isUsed || this.handle !== undefined
  }

  /** Sends the setup, which must be a connection's first message. */
  start(setup: JsonObject): void {
    this.setup = JSON.stringify(setup)
    this.startedAt = performance.now()
    this.phase = 'setup'
    this.isStale = false
    const sessionResumption = this.handle === undefined ? {} : { handle: this.handle }
    this.frames.push(JSON.stringify({ setup: this.resumption ? { ...setup, sessionResumption } : setup }))
  }

  /** Records whether a setup differs from the current one. */
  change(setup: JsonObject): void {
    this.isStale = JSON.stringify(setup) !== this.setup
  }

  send(frame: string): void {
    if (this.phase === 'ready') {
      this.isUsed = true
      this.frames.push(frame)
      return
    }
    this.queued.push(frame)
    this.queuedSize += frame.length
    if (this.queuedSize > MAX_BUFFERED) this.overflow()
  }

  /** Ends the session because too much input is buffered. */
  overflow(): void {
    this.end ??= this.isReady ? TOO_MUCH_DEFERRED : NOT_READY
  }

  /** Handles `setupComplete` and releases the buffered frames. */
  ready(): void {
    if (this.phase !== 'setup') return
    const { queued } = this
    this.phase = 'ready'
    this.queued = []
    this.queuedSize = 0
    for (const frame of queued) this.send(frame)
  }

  /** Resets the number of reconnects, because the connection works. */
  answered(): void {
    this.moves = this.quickMoves = 0
  }

  /** Records the latest resumption handle. Undefined means that the session cannot be resumed at this point. */
  resumable(handle: string | undefined): void {
    this.isResumable = handle !== undefined
    this.handle = handle ?? this.handle
  }

  /**
   * Handles the upstream's announcement that it will close the connection. Returns an error for the caller if the
   * session cannot continue on a new connection.
   */
  leaving(seconds: number | undefined): CanonicalError | undefined {
    this.isLeaving = true
    if (this.mayChange) return undefined
    const when = seconds === undefined ? 'soon' : `in ${seconds} seconds`
    return { kind: 'timed-out', code: 'session_expiring', message: `The upstream ends the session ${when}.` }
  }

  /** Requests a new connection if one is needed and no running work would be lost. */
  move(isIdle: boolean): boolean {
    const isUp = this.phase === 'ready' || this.phase === 'setup'
    if (!isUp || !isIdle || !(this.isStale || this.isLeaving)) return false
    if (this.isUsed && !this.isResumable) return false
    if (!this.isStale && !this.mayLeave()) return false
    this.startMove()
    return true
  }

  /** True while a new connection is being opened. */
  get isMoving(): boolean {
    return this.phase === 'moving'
  }

  /** True if frames that were sent may be lost with the connection. */
  get isLossy(): boolean {
    return this.phase === 'ready' && this.isUsed
  }

  /** Handles a lost connection. Returns true if the session continues on a new connection. Otherwise sets `end`. */
  lost(code: number, reason: string): boolean {
    const isBroken = this.isLeaving || !FINAL_CODES.has(code)
    const isNothingLost = !this.isUsed && this.phase !== 'setup'
    if (isBroken && (this.handle !== undefined || isNothingLost) && this.moves < MAX_RECONNECTS) {
      this.moves++
      this.startMove()
      return true
    }
    this.end = this.isLeaving
      ? { code: GOING_AWAY, reason: 'session expired', error: CONNECTION_EXPIRED }
      : { code: relayedCode(code), reason, ...errorOf(code, reason) }
    return false
  }

  /** Removes and returns the frames to send. */
  take(): readonly string[] {
    const { frames } = this
    this.frames = []
    return frames
  }

  /** Returns true if a connection that the upstream will close may be left now. */
  private mayLeave(): boolean {
    if (performance.now() - this.startedAt >= NEW_AGE) this.quickMoves = 0
    return this.quickMoves++ < MAX_QUICK_MOVES
  }

  private startMove(): void {
    this.phase = 'moving'
    this.isLeaving = false
    this.isStale = false
  }
}

const NOT_READY: SessionEnd = {
  code: TOO_BIG,
  reason: 'too much was sent before the upstream was ready',
  error: new GatewayError({
    kind: 'too-large',
    code: 'session_not_ready',
    message: 'Too much was sent before the upstream was ready.',
  }),
}

const TOO_MUCH_DEFERRED: SessionEnd = {
  code: TOO_BIG,
  reason: 'too much was sent during a response',
  error: new GatewayError({
    kind: 'too-large',
    code: 'response_in_progress',
    message: 'Too much was sent during a response.',
  }),
}

const CONNECTION_EXPIRED = new GatewayError({
  kind: 'timed-out',
  code: 'session_expired',
  message: 'The upstream ended the session: it reached its maximum duration.',
})

/** Error kinds by close reason. Google sends no error frames, so the close reason becomes the message. */
const REASONS: readonly (readonly [RegExp, ErrorKind])[] = [
  [/api key|credential|unauthenticated|permission/i, 'upstream-account'],
  [/quota|exhausted|rate limit/i, 'rate-limited'],
  [/not found|not supported for bidi/i, 'not-found'],
  [/invalid argument|invalid json|unknown name|cannot find field/i, 'invalid-request'],
]

function errorOf(code: number, reason: string): { readonly error?: GatewayError } {
  if (code === 1000 || code === 1005) return {}
  const kind = REASONS.find(([pattern]) => pattern.test(reason))?.[1] ?? 'upstream-failed'
  const message = reason === '' ? 'The upstream ended the session.' : reason
  return { error: new GatewayError({ kind, code: 'session_ended', message }) }
}
