import type { CanonicalError } from '../canonical/error.ts'
import type { Loss } from '../canonical/loss.ts'
import type { JsonObject } from '../canonical/node.ts'
import type { Usage } from '../canonical/result.ts'
import type { CallerListener, CallerSocket } from './caller-socket.ts'
import { GOING_AWAY, NORMAL, POLICY_VIOLATION } from './closing.ts'
import { eventFailure } from './event-failure.ts'
import { MAX_RUNNING } from './limits.ts'

/** An open voice session between a caller and an upstream. */
export interface VoiceSession {
  /** Resolves after both sides are closed. */
  readonly closed: Promise<void>
  /** Ends the session after the running response, with an `error` event and close code 1001. */
  finish(): void
  /** Ends the session immediately, with an `error` event and close code 1001. */
  stop(): void
  /** Ends the session immediately with the given error and close code 1008, because the caller lost its permission. */
  refuse(why: CanonicalError): void
  /** Terminates both connections without a close frame. */
  terminate(): void
}

/** Receives the data that the gateway accounts and logs for a session. */
export interface SessionRecord {
  /**
   * Counts one response against the key's limits.
   *
   * @throws GatewayError `rate-limited`.
   */
  admit(): void
  /** Adds the token usage of a response or a transcription. */
  recordUsage(usage: Usage | undefined): void
  /** Records losses. Each distinct loss is recorded once. */
  recordLosses(losses: readonly Loss[]): void
  recordError(error: CanonicalError): void
  /** Called once, when the session has ended. */
  ended(code: number): void
}

/** Translates model names in the events of a session between the caller's and the upstream's. */
export interface SessionModels {
  /**
   * Replaces the caller's model names by the upstream's. Returns the same object if no name differs.
   *
   * @throws GatewayError `forbidden` for a model that the key may not use, `invalid-request` for another model than the
   * session's.
   */
  incoming(event: JsonObject): JsonObject
  /** Replaces the upstream's model names by the caller's. Returns the same object if no name differs. */
  outgoing(event: JsonObject): JsonObject
  /** The caller's name for a model of the upstream. */
  publicName(upstreamModel: string): string
}

/** Parts that every kind of session has. */
interface SessionParts {
  readonly caller: CallerSocket
  readonly upstream: { resume(): void }
  readonly record: SessionRecord
}

/** Base of both kinds of session: tracks running responses, counts them against limits, and ends the session. */
export abstract class BaseVoiceSession<O extends SessionParts> implements VoiceSession, CallerListener {
  readonly closed: Promise<void>
  protected readonly options: O
  protected readonly settled = Promise.withResolvers<void>()
  protected over = false
  private finishing = false
  /** Event ids of requested responses that have not started, and ids of running responses. */
  private readonly requested: (string | undefined)[] = []
  private readonly running = new Set<string>()

  constructor(options: O) {
    this.options = options
    this.closed = this.settled.promise
  }

  finish(): void {
    this.finishing = true
    this.stopIfFinished()
  }

  stop(): void {
    this.endWithError(SHUTTING_DOWN, GOING_AWAY)
  }

  refuse(why: CanonicalError): void {
    this.endWithError(why, POLICY_VIOLATION, why.message)
  }

  abstract terminate(): void

  abstract frame(data: Buffer): void

  binary(): void {
    this.fail({ kind: 'invalid-request', code: 'invalid_frame', message: 'A frame must be text.' })
  }

  drained(): void {
    if (!this.over) this.options.upstream.resume()
  }

  expired(why: 'idle' | 'lifetime'): void {
    this.endWithError(EXPIRED[why], why === 'idle' ? NORMAL : GOING_AWAY)
  }

  abstract callerClosed(code: number, reason: string): void

  /** Sends the caller an `error` event. `event` is the id of the client event that caused the error. */
  protected abstract fail(error: CanonicalError, event?: string): void

  /** Asks the upstream to cancel a response. */
  protected abstract cancel(response: string): void

  /** Closes the upstream's side. Called once. */
  protected abstract release(code: number, reason: string): void

  /** Registers a response requested by a client event. Throws GatewayError if the key has reached a limit. */
  protected requestResponse(event: string | undefined): void {
    this.options.record.admit()
    this.requested.push(event?.slice(0, LONGEST_ID))
    if (this.requested.length > MOST_REQUESTED) this.requested.shift()
  }

  /** Removes the requested response that the upstream refused with an error about that event. */
  protected refused(event: string | undefined): void {
    const index = event === undefined ? 0 : this.requested.indexOf(event.slice(0, LONGEST_ID))
    if (index >= 0) this.requested.splice(index, 1)
  }

  /** Registers a started response. A response that turn detection started counts like a requested one. */
  protected responseBegan(response: string): void {
    this.running.add(response)
    if (this.running.size > MAX_RUNNING) this.running.delete(this.running.values().next().value!)
    if (this.requested.length > 0) {
      this.requested.shift()
      return
    }
    try {
      this.options.record.admit()
    } catch (thrown) {
      this.fail(eventFailure(thrown, 'invalid-request'))
      this.cancel(response)
    }
  }

  protected responseEnded(response: string, usage: Usage | undefined): void {
    this.running.delete(response)
    this.options.record.recordUsage(usage)
  }

  /** Ends the session if it is finishing and no response is running. */
  protected stopIfFinished(): void {
    if (this.finishing && this.running.size === 0) this.stop()
  }

  private endWithError(error: CanonicalError, code: number, reason = error.code!): void {
    if (this.over) return
    this.fail(error)
    this.end(code, reason)
  }

  /** Closes both sides, once. */
  protected end(code: number, reason: string): void {
    if (this.over) return
    this.over = true
    const { caller, record } = this.options
    caller.close(code, reason)
    this.release(code, reason)
    record.ended(code)
  }
}

/**
 * Maximum number of requested responses tracked per session, and maximum number of characters stored of each event id.
 */
const MOST_REQUESTED = 1000
const LONGEST_ID = 64

export const OTHER_MODEL: CanonicalError = {
  kind: 'invalid-request',
  code: 'model_not_changeable',
  param: 'session.model',
  message: 'The model of a session cannot be changed.',
}

/** The error sent before a shutdown. */
const SHUTTING_DOWN: CanonicalError = {
  kind: 'overloaded',
  code: 'server_shutdown',
  message: 'The gateway is shutting down. Open another session.',
}

const EXPIRED: { readonly [why in 'idle' | 'lifetime']: CanonicalError } = {
  idle: { kind: 'timed-out', code: 'session_idle', message: 'The session was idle for too long.' },
  lifetime: { kind: 'timed-out', code: 'session_expired', message: 'The session reached its maximum duration.' },
}
