import type { CanonicalError } from '../canonical/error.ts'
import type { Loss } from '../canonical/loss.ts'
import type { JsonObject } from '../canonical/node.ts'
import type { Usage } from '../canonical/result.ts'

/** An open voice session between a caller and an upstream. */
export interface VoiceSession {
  /** Resolves after both sides are closed. */
  readonly closed: Promise<void>
  /** Ends the session after the running response, with an `error` event and close code 1001. */
  finish(): void
  /** Ends the session immediately, with an `error` event and close code 1001. */
  stop(): void
  /**
   * Ends the session immediately with the given error and close code 1008, because the caller has lost its permission.
   */
  refuse(why: CanonicalError): void
  /** Terminates both connections without a close frame. */
  terminate(): void
}

/** Receives the data of a session for accounting and logs. */
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
  /** Called once when the session has ended. */
  ended(code: number): void
}

/** Translates model names in a session's events between the caller's and the upstream's names. */
export interface SessionModels {
  /**
   * Replaces the caller's model names with the upstream's. Returns the same object if nothing changes.
   *
   * @throws GatewayError `forbidden` if the key may not use the model, `invalid-request` if the model is not the
   * session's.
   */
  incoming(event: JsonObject): JsonObject
  /** Replaces the upstream's model names with the caller's. Returns the same object if nothing changes. */
  outgoing(event: JsonObject): JsonObject
  /** Returns the caller's name for a model of the upstream. */
  publicName(upstreamModel: string): string
}

/** Error for a session update that names another model. */
export const OTHER_MODEL: CanonicalError = {
  kind: 'invalid-request',
  code: 'model_not_changeable',
  param: 'session.model',
  message: 'The model of a session cannot be changed.',
}
