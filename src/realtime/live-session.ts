import type { CanonicalError } from '../canonical/error.ts'
import type { Loss } from '../canonical/loss.ts'
import type { Usage } from '../canonical/result.ts'

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

/** The error of the last event at a shutdown. */
export const STOPPING: CanonicalError = {
  kind: 'overloaded',
  code: 'server_shutdown',
  message: 'The gateway is being stopped. Open another session.',
}

export const EXPIRED: { readonly [why in 'idle' | 'lifetime']: CanonicalError } = {
  idle: { kind: 'timed-out', code: 'session_idle', message: 'The session was idle for too long.' },
  lifetime: { kind: 'timed-out', code: 'session_expired', message: 'The session reached its maximum duration.' },
}
