import type { GatewayError } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { Loss } from '../canonical/loss.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { AudioFormat, VoiceSessionSettings } from '../canonical/voice-session.ts'
import type { ClientEvent, ServerEvent } from '../canonical/voice-session-event.ts'

/** Upstream side of a voice session, common to all kinds of upstreams. */
export interface UpstreamSide {
  /** Resolves once all connections are closed after `close` or `terminate`. */
  readonly closed: Promise<void>
  /** Number of bytes sent to the upstream but not yet transmitted. */
  readonly buffered: number
  /** Pauses reading from the upstream, or generating the answer, until `resume`. Called when the caller is slow. */
  pause(): void
  resume(): void
  /**
   * Ends all connections and requests. No event follows, and `ended` is not called. May be called twice, and also
   * before the first event.
   */
  close(code: number, reason: string): void
  /** Like `close`, but without a close frame. */
  terminate(): void
}

/** Audio formats of an upstream's session. */
export interface UpstreamAudio {
  readonly input: AudioFormat
  readonly output: AudioFormat
  /** True if a response may have another output format than the session. */
  readonly variesByResponse?: boolean
}

/** An upstream that accepts canonical events: a WebSocket, or a cascade of requests. */
export interface Upstream extends UpstreamSide {
  /**
   * Audio formats that `audio-append` accepts and that `audio-delta` contains. The session converts the caller's audio.
   */
  readonly audio: UpstreamAudio
  /** True if the usage of a response may arrive after its end, with a later response. */
  readonly countsLate?: boolean
  /**
   * Returns the losses of a client event at this upstream, with paths into the event. Has no side effects. The session
   * either reports each distinct loss once or refuses the event.
   */
  losses(event: ClientEvent): readonly Loss[]
  /** Sends an event. Never throws; a failure becomes an `error` event. Ignored after `close`. */
  send(event: ClientEvent): void
}

/** Receives an upstream's events. No method is called before the constructor or the opener has returned. */
export interface UpstreamListener {
  /** Receives the events. The first one is `session-created`. */
  event(event: ServerEvent): void
  /** Called after the upstream has accepted some of the buffered data. */
  onDrain(): void
  /** Called at most once, after the last event, if the upstream has ended the session. */
  ended(end: SessionEnd): void
}

/** End of a session. A normal end has no `error`. */
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
  /** Generates an id with the given prefix, such as `item_…`. Tests inject a counter. */
  readonly newId: (prefix: string) => string
}

/**
 * Runs a request on behalf of a session's caller, with the same routing, failover, limits and logging as any other
 * request. Yields the events of `canonical/event.ts`, starting with `result-start`. A failure before that event is
 * thrown as GatewayError; a later one is an `error` event. Returning early or aborting cancels the upstream's work
 * immediately.
 *
 * A conversation streams text parts and tool calls. Speech (`output.modalities: ['audio']`, `output.audio.mediaType:
 * 'audio/pcm'`) is one media part of PCM16 at 24 kHz. Each delta is the base64 of a multiple of three bytes, so that
 * the deltas can be concatenated. A transcription (`output.transcript`) expects a user message with one WAV media part
 * and returns text.
 */
export type RunRequest = (request: CanonicalRequest, signal: AbortSignal) => AsyncIterable<CanonicalEvent>
