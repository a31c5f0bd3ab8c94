import type { CanonicalError } from '../canonical/error.ts'
import type { Loss } from '../canonical/loss.ts'
import type { JsonObject } from '../canonical/node.ts'
import type { Usage } from '../canonical/result.ts'
import type { VoiceSessionSettings } from '../canonical/voice-session.ts'

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

/** A model that transcribes the caller's speech. Its prices are its own, and not those of the session's model. */
export interface TranscriptionModel {
  /** Public id of the model. */
  readonly model: string
  readonly upstreamModel: string
}

/** Receives the data of a session for accounting and logs. */
export interface SessionRecord {
  /**
   * Counts one response against the key's limits.
   *
   * @throws GatewayError `rate-limited`.
   */
  admit(): void
  /** Adds the token usage of a response, or releases the response if its usage is unknown. */
  recordUsage(usage: Usage | undefined): void
  /** Adds the estimated usage of responses whose usage the upstream did not report before the session ended. */
  recordEstimate(usage: Usage): void
  /**
   * Adds the usage of a transcription of the caller's speech.
   *
   * @param usage undefined if the upstream does not bill it by tokens.
   * @param model model that transcribed, or undefined if the upstream does not name it.
   * @param seconds length of the speech, if the upstream counts no tokens.
   * @param isIncluded true if the usage of the responses includes that of the transcription.
   */
  recordTranscription(
    usage: Usage | undefined,
    model: TranscriptionModel | undefined,
    seconds?: number,
    isIncluded?: boolean,
  ): void
  /**
   * Checks whether the key's budget is spent, after usage that no limit admitted.
   *
   * @param onSpent called with the refusal, perhaps later.
   */
  checkBudget(onSpent: (refusal: CanonicalError) => void): void
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
   * @throws GatewayError `forbidden` if the key may not use the model, `invalid-request` if the upstream does not have
   * it.
   */
  incoming(event: JsonObject): JsonObject
  /** Replaces the upstream's model names with the caller's. Returns the same object if nothing changes. */
  outgoing(event: JsonObject): JsonObject
  /** Returns the caller's name for a model of the upstream. */
  publicName(upstreamModel: string): string
}

/** Returns the model that transcribes the caller's speech, from the settings that an upstream reports. */
export function transcriptionModel(
  { input }: VoiceSessionSettings,
  models: Pick<SessionModels, 'publicName'>,
): TranscriptionModel | undefined {
  const upstreamModel = input?.transcription?.model
  return upstreamModel === undefined ? undefined : { model: models.publicName(upstreamModel), upstreamModel }
}
