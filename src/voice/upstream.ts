import type { GatewayError } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { Loss } from '../canonical/loss.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { AudioFormat, VoiceSessionSettings } from '../canonical/voice-session.ts'
import type { ClientEvent, ServerEvent } from '../canonical/voice-session-event.ts'

/** The upstream side of a session: a WebSocket, or a cascade of requests. Created by an `OpenUpstream`. */
export interface Upstream {
  /** Audio formats that `audio-append` accepts and `audio-delta` contains. The session converts the caller's audio. */
  readonly audio: { readonly input: AudioFormat; readonly output: AudioFormat }
  /**
   * Returns the losses of a client event at this upstream, with paths into the event. Has no side effects. The session
   * reports each loss once, or refuses the event.
   */
  losses(event: ClientEvent): readonly Loss[]
  /** Sends an event. Never throws. A failure becomes an `error` event. Ignored after `close`. */
  send(event: ClientEvent): void
  /** Number of bytes sent to the upstream but not yet transmitted. */
  readonly buffered: number
  /** Stops reading from the upstream, or generating, until `resume`, because the caller is slow. */
  pause(): void
  resume(): void
  /**
   * Closes every connection and request immediately. No event follows, and `ended` is not called. May be called twice,
   * and before the first event.
   */
  close(code: number, reason: string): void
}

/** Receives an upstream's events. Nothing may be called before the constructor or the opener has returned. */
export interface UpstreamListener {
  /** Receives an event. The first one is `session-created`. */
  event(event: ServerEvent): void
  /** Called at most once, after the last event, when the upstream ended the session. */
  ended(end: SessionEnd): void
}

/** How a connection ended. `error` is absent for an ordinary end. */
export interface SessionEnd {
  /** Close code for the caller (RFC 6455, section 7.4). */
  readonly code: number
  readonly reason: string
  readonly error?: GatewayError
}

export interface UpstreamOptions {
  /** The upstream's name for the model. */
  readonly model: string
  /** Settings before the client's first `session-update`, including the client's audio formats. */
  readonly settings: VoiceSessionSettings
  readonly listener: UpstreamListener
  /** Generates an id with a prefix, such as `item_…`. Tests inject a counter. */
  readonly newId: (prefix: string) => string
}

/**
 * Runs a request on behalf of a session's caller, with the routing, failover, limits and logging of any other request.
 * Yields the events of `canonical/event.ts`, first `result-start`. Earlier failures are thrown as GatewayError; later
 * ones are `error` events. Returning early or aborting cancels the upstream's work at once.
 *
 * A conversation streams text parts and tool calls. Speech (`output.modalities: ['audio']`, `output.audio.mediaType:
 * 'audio/pcm'`) is one media part; its deltas are base64 of whole 3-byte groups of PCM16 at 24 kHz. Transcription
 * (`output.transcript`) takes a user message with one WAV media part and returns text.
 */
export type RunRequest = (request: CanonicalRequest, signal: AbortSignal) => AsyncIterable<CanonicalEvent>
