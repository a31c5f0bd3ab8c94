import type { CanonicalError } from '../canonical/error.ts'
import type { Loss } from '../canonical/loss.ts'
import type { JsonObject } from '../canonical/node.ts'
import type { Usage } from '../canonical/result.ts'
import type { CallerListener, CallerSocket } from './caller-socket.ts'
import { GOING_AWAY, NORMAL, POLICY_VIOLATION } from './closing.ts'
import { eventFailure } from './event-failure.ts'

/** A session that is open: a caller on one side, an upstream on the other. */
export interface LiveSession {
  /** Settles when both sides are closed. */
  readonly closed: Promise<void>
  /** Ends after the response that runs, with an `error` event and the close code 1001. */
  finish(): void
  /** The same at once. */
  stop(): void
  /** The same at once with that error, and the close code 1008: its caller may not go on. */
  refuse(why: CanonicalError): void
  /** Breaks off both connections. */
  cut(): void
}

/** What a session adds to its key's account and to its line in the log. */
export interface SessionRecord {
  /**
   * Counts one response against the key's limits.
   *
   * @throws GatewayError `rate-limited`.
   */
  admit(): void
  /** What a response or a transcript used. */
  spent(usage: Usage | undefined): void
  /** Notes losses, each of them once. */
  lost(losses: readonly Loss[]): void
  failed(error: CanonicalError): void
  /** The session is over. Called once. */
  ended(code: number): void
}

/** The models that the events of a session name. */
export interface SessionModels {
  /**
   * A caller's event with the upstream's names of its models; the very same where none differs.
   *
   * @throws GatewayError `forbidden` for a model its key may not use, `invalid-request` for another than the session's.
   */
  incoming(event: JsonObject): JsonObject
  /** An upstream's event with the caller's names of its models; the very same where none differs. */
  outgoing(event: JsonObject): JsonObject
  /** What the caller calls a model of the upstream. */
  publicName(upstreamModel: string): string
}

/** What every session has between its two sides. */
interface Between {
  readonly caller: CallerSocket
  readonly upstream: { resume(): void }
  readonly record: SessionRecord
}

/** How a session ends, and the responses of it that run: the same whichever way its events pass. */
export abstract class Session<O extends Between> implements LiveSession, CallerListener {
  readonly closed: Promise<void>
  protected readonly options: O
  protected readonly settled = Promise.withResolvers<void>()
  protected over = false
  private finishing = false
  /** Requested responses that have not begun, by the ids of their events, and responses that run. */
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
    this.farewell(STOPPING, GOING_AWAY)
  }

  refuse(why: CanonicalError): void {
    this.farewell(why, POLICY_VIOLATION, why.message)
  }

  abstract cut(): void

  abstract frame(data: Buffer): void

  binary(): void {
    this.fail({ kind: 'invalid-request', code: 'invalid_frame', message: 'A frame must be text.' })
  }

  drained(): void {
    if (!this.over) this.options.upstream.resume()
  }

  expired(why: 'idle' | 'lifetime'): void {
    this.farewell(EXPIRED[why], why === 'idle' ? NORMAL : GOING_AWAY)
  }

  abstract left(code: number, reason: string): void

  /** Sends the caller an `error` event, about the client's event of that id. */
  protected abstract fail(error: CanonicalError, event?: string): void

  /** Has the upstream end a response. */
  protected abstract cancel(response: string): void

  /** Closes the upstream's side. Called once. */
  protected abstract release(code: number, reason: string): void

  /** The caller requests a response by that event. Throws GatewayError where its key has no room for one. */
  protected requestResponse(event: string | undefined): void {
    this.options.record.admit()
    this.requested.push(event?.slice(0, LONGEST_ID))
    if (this.requested.length > MOST_REQUESTED) this.requested.shift()
  }

  /** An error of the upstream about that event: it has refused the response that the event requested, if it did. */
  protected refused(event: string | undefined): void {
    const place = event === undefined ? 0 : this.requested.indexOf(event.slice(0, LONGEST_ID))
    if (place >= 0) this.requested.splice(place, 1)
  }

  /** A response that turn detection begins is counted like a requested one. */
  protected responseBegan(response: string): void {
    this.running.add(response)
    if (this.running.size > MOST_RUNNING) this.running.delete(this.running.values().next().value!)
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
    this.options.record.spent(usage)
  }

  /** After the last response of a session that is to finish, it ends. */
  protected stopIfFinished(): void {
    if (this.finishing && this.running.size === 0) this.stop()
  }

  private farewell(error: CanonicalError, code: number, reason = error.code!): void {
    if (this.over) return
    this.fail(error)
    this.end(code, reason)
  }

  /** Ends both sides, once. */
  protected end(code: number, reason: string): void {
    if (this.over) return
    this.over = true
    const { caller, record } = this.options
    caller.close(code, reason)
    this.release(code, reason)
    record.ended(code)
  }
}

/** Responses of a session that run at once, beyond which the oldest are forgotten: an upstream may begin and never end them. */
const MOST_RUNNING = 64

/** Requested responses that are remembered, and how much of the ids of their events. */
const MOST_REQUESTED = 1000
const LONGEST_ID = 64

export const OTHER_MODEL: CanonicalError = {
  kind: 'invalid-request',
  code: 'model_not_changeable',
  param: 'session.model',
  message: 'The model of a session cannot be changed.',
}

/** The error of the last event at a shutdown. */
const STOPPING: CanonicalError = {
  kind: 'overloaded',
  code: 'server_shutdown',
  message: 'The gateway is being stopped. Open another session.',
}

const EXPIRED: { readonly [why in 'idle' | 'lifetime']: CanonicalError } = {
  idle: { kind: 'timed-out', code: 'session_idle', message: 'The session was idle for too long.' },
  lifetime: { kind: 'timed-out', code: 'session_expired', message: 'The session reached its maximum duration.' },
}
