import type { GatewayError } from '../canonical/error.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { Loss } from '../canonical/loss.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { AudioFormat, SessionSettings } from '../canonical/session.ts'
import type { ClientEvent, ServerEvent } from '../canonical/session-event.ts'

/** The far side of a session: an upstream's socket, or a cascade of requests. Made by an `OpenUpstream`. */
export interface Upstream {
  /** The audio it takes in `audio-append` and the audio its `audio-delta`s hold: the session converts on both ways. */
  readonly audio: { readonly input: AudioFormat; readonly output: AudioFormat }
  /**
   * What a client event would lose here, with paths into the event. Pure: nothing is sent. The session reports each
   * loss once, or refuses the event.
   */
  losses(event: ClientEvent): readonly Loss[]
  /** Never throws: what goes wrong is an `error` event. Whatever comes after `close` is ignored. */
  send(event: ClientEvent): void
  /** Bytes that were sent and not taken yet. */
  readonly buffered: number
  /** The caller is slow: no more is read, or made, until `resume`. */
  pause(): void
  resume(): void
  /**
   * Ends every connection and request at once; no event comes afterwards, and `ended` is not called. May be called
   * twice, also before the first event.
   */
  close(code: number, reason: string): void
}

/** Where an upstream's events go. Nothing may be called before the constructor or opener has returned. */
export interface UpstreamListener {
  /** The first one is `session-created`. */
  event(event: ServerEvent): void
  /** The upstream ended by itself: called once at most, after its last event. */
  ended(end: SessionEnd): void
}

/** How a connection ended. `error` is absent where it was meant to. */
export interface SessionEnd {
  /** Close code for the caller (RFC 6455, section 7.4). */
  readonly code: number
  readonly reason: string
  readonly error?: GatewayError
}

export interface UpstreamOptions {
  /** What the upstream calls the model. */
  readonly model: string
  /** What is set before the client's first `session-update`, with the client's audio formats filled in. */
  readonly settings: SessionSettings
  readonly listener: UpstreamListener
  /** A fresh id such as `item_…`; tests count instead. */
  readonly newId: (prefix: string) => string
}

/**
 * A request made for a session, as its caller: routed, tried at one channel after the other, counted and logged as any
 * other. Yields the events of `canonical/event.ts`, first `result-start`; failures before it are thrown as GatewayError,
 * later ones are `error` events. To return early, or to abort, ends the upstream's work at once.
 *
 * Conversation: text parts and tool calls stream. Speech (`output.modalities: ['audio']`, `output.audio.mediaType:
 * 'audio/pcm'`): one media part whose deltas are base64 of whole 3-byte groups, PCM16 at 24 kHz. Transcription
 * (`output.transcript`): a user's message of one media part (WAV), text back.
 */
export type RunRequest = (request: CanonicalRequest, signal: AbortSignal) => AsyncIterable<CanonicalEvent>
