import { type CanonicalError, type ErrorKind, GatewayError } from '../../../canonical/error.ts'
import type { JsonObject } from '../../../canonical/node.ts'
import { GOING_AWAY, passedOn, TOO_BIG } from '../../closing.ts'
import type { SessionEnd } from '../../upstream.ts'

/** Bytes that may be held back: frames before the upstream is set up, turns, audio. */
export const MOST_HELD = 8 * 2 ** 20

/** Connections in a row that ended before anything was answered. */
const MOST_MOVES = 3

/** Codes after which the same again would end the same way: done, invalid data, policy (RFC 6455, section 7.4.1). */
const FINAL: ReadonlySet<number> = new Set([1000, 1007, 1008])

/**
 * The upstream's connections, one after the other: `setup` first and nothing else until `setupComplete`; what comes
 * meanwhile is held. `moving` is the time between asking for another connection and having it.
 */
export class Connection {
  /** Frames to be sent now. */
  private frames: string[] = []
  private held: string[] = []
  private heldBytes = 0
  private phase: 'new' | 'setup' | 'ready' | 'moving' = 'new'
  private readonly resumption: boolean
  private handle: string | undefined
  private isResumable = false
  /** The upstream is going to close the connection. */
  private isLeaving = false
  /** The setup in force, and whether anything was sent after it. */
  private setup: string | undefined
  private isUsed = false
  /** The setup in force is not the one that is wanted. */
  private isStale = false
  private moves = 0
  /** The session cannot go on. */
  end: SessionEnd | undefined

  constructor(resumption: boolean) {
    this.resumption = resumption
  }

  get isNew(): boolean {
    return this.phase === 'new'
  }

  /** Whether a change of the setup can reach the upstream: by another connection to the same session. */
  get mayChange(): boolean {
    return !this.isUsed || this.handle !== undefined
  }

  /** Sends the first message of a connection. */
  begin(setup: JsonObject): void {
    this.setup = JSON.stringify(setup)
    this.phase = 'setup'
    this.isStale = false
    const sessionResumption = this.handle === undefined ? {} : { handle: this.handle }
    this.frames.push(JSON.stringify({ setup: this.resumption ? { ...setup, sessionResumption } : setup }))
  }

  /** A setup that may differ from the one in force. */
  change(setup: JsonObject): void {
    this.isStale = JSON.stringify(setup) !== this.setup
  }

  send(frame: string): void {
    if (this.phase === 'ready') {
      this.isUsed = true
      this.frames.push(frame)
      return
    }
    this.held.push(frame)
    this.heldBytes += frame.length
    if (this.heldBytes > MOST_HELD) this.tooMuch()
  }

  /** More is held back than may be. */
  tooMuch(): void {
    this.end ??= TOO_MUCH
  }

  /** `setupComplete` came. */
  ready(): void {
    if (this.phase !== 'setup') return
    const { held } = this
    this.phase = 'ready'
    this.held = []
    this.heldBytes = 0
    for (const frame of held) this.send(frame)
  }

  /** Something was answered: the connection works. */
  answered(): void {
    this.moves = 0
  }

  resumable(handle: string | undefined): void {
    this.isResumable = handle !== undefined
    this.handle = handle ?? this.handle
  }

  /** The upstream announces that it will close; an event for the caller where the session cannot outlive that. */
  leaving(seconds: number | undefined): CanonicalError | undefined {
    this.isLeaving = true
    if (this.mayChange) return undefined
    const when = seconds === undefined ? 'soon' : `in ${seconds} seconds`
    return { kind: 'timed-out', code: 'session_expiring', message: `The upstream ends the session ${when}.` }
  }

  /** Whether another connection is to be opened now, while nothing goes on that would be lost. */
  move(isIdle: boolean): boolean {
    const isUp = this.phase === 'ready' || this.phase === 'setup'
    if (!isUp || !isIdle || !(this.isStale || this.isLeaving)) return false
    if (this.isUsed && !this.isResumable) return false
    this.startMove()
    return true
  }

  /** Another connection was requested. */
  get isMoving(): boolean {
    return this.phase === 'moving'
  }

  /** Frames that were sent may have been lost with the connection. */
  get isLossy(): boolean {
    return this.phase === 'ready' && this.isUsed
  }

  /** The connection is gone. Whether the session goes on in another; otherwise `end` is set. */
  lost(code: number, reason: string): boolean {
    const isBroken = this.isLeaving || !FINAL.has(code)
    const isNothingLost = !this.isUsed && this.phase !== 'setup'
    if (isBroken && (this.handle !== undefined || isNothingLost) && this.moves < MOST_MOVES) {
      this.moves++
      this.startMove()
      return true
    }
    this.end = this.isLeaving
      ? { code: GOING_AWAY, reason: 'session expired', error: EXPIRED }
      : { code: passedOn(code), reason, ...errorOf(code, reason) }
    return false
  }

  take(): readonly string[] {
    const { frames } = this
    this.frames = []
    return frames
  }

  private startMove(): void {
    this.phase = 'moving'
    this.isLeaving = false
    this.isStale = false
  }
}

const TOO_MUCH: SessionEnd = {
  code: TOO_BIG,
  reason: 'too much was sent before the upstream was ready',
  error: new GatewayError({
    kind: 'too-large',
    code: 'session_not_ready',
    message: 'Too much was sent before the upstream was ready.',
  }),
}

const EXPIRED = new GatewayError({
  kind: 'timed-out',
  code: 'session_expired',
  message: 'The upstream ended the session: it reached its maximum duration.',
})

/** Google has no error frames: the reason of the close frame is the message. */
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
