import type { CanonicalError } from './error.ts'
import type { Format, JsonObject, Node } from './node.ts'
import type { Modality } from './request.ts'
import type { Usage } from './result.ts'
import type { ConversationItem, ItemStatus, ResponseSettings, VoiceSessionSettings } from './voice-session.ts'

/**
 * An event from the client of a voice session. Audio is in the session's input format, in chunks that may end anywhere.
 */
export type ClientEvent = ClientBase &
  (
    | { readonly type: 'session-update'; readonly settings: VoiceSessionSettings }
    | { readonly type: 'audio-append'; readonly audio: Uint8Array }
    /** The appended audio becomes a user item. */
    | { readonly type: 'audio-commit' }
    | { readonly type: 'audio-clear' }
    /** Discards generated audio that has not been played. Only WebRTC and SIP have an output buffer. */
    | { readonly type: 'output-clear' }
    | { readonly type: 'item-create'; readonly item: ConversationItem; readonly after?: Position }
    | { readonly type: 'item-retrieve'; readonly item: string }
    | { readonly type: 'item-delete'; readonly item: string }
    /** The client played only the first `audioEndMs` milliseconds of an assistant item's audio. */
    | { readonly type: 'item-truncate'; readonly item: string; readonly part: number; readonly audioEndMs: number }
    | { readonly type: 'response-create'; readonly settings?: ResponseSettings }
    | { readonly type: 'response-cancel'; readonly response?: string }
    | { readonly type: 'opaque'; readonly format: Format; readonly value: JsonObject }
  )

interface ClientBase extends Node {
  /** The client's id of the event. An error caused by the event refers to this id. */
  readonly id?: string
}

/** Id of the preceding item. Null at the start of the conversation. An item without a stated position is at the end. */
export type Position = string | null

/** The position of a part in a response. */
export interface OutputPosition {
  readonly response: string
  /** Id of the item, and its index in the response. */
  readonly item: string
  readonly output: number
  /** Index of the part in the item; 0 for a function call. */
  readonly part: number
}

/**
 * An event from the server of a voice session. Every reader produces this grammar, and every writer relies on it:
 *
 *    session-created, then in any order: acknowledgements, input events, responses, rate-limits, errors.
 *    response = response-start
 *               ( output-start ( part-start (text-delta | transcript-delta | audio-delta)* part-end )* arguments-delta* output-end )*
 *               response-end
 *
 * The outputs of a response start in order 0, 1, 2. Open outputs may interleave. A `response-end` closes everything
 * that is open. No event repeats a complete text: writers of formats that repeat texts fold the deltas.
 */
export type ServerEvent = Node &
  (
    | {
        readonly type: 'session-created'
        readonly id?: string
        readonly settings: VoiceSessionSettings
        /** Time at which the session ends, in Unix seconds. */
        readonly expiresAt?: number
      }
    | { readonly type: 'session-updated'; readonly settings: VoiceSessionSettings }
    /**
     * A user, system or tool item was added to the conversation. Items of responses are announced by `output-start`.
     */
    | { readonly type: 'item-added'; readonly item: ConversationItem; readonly after?: Position }
    | { readonly type: 'item-done'; readonly item: ConversationItem; readonly after?: Position }
    | { readonly type: 'item-retrieved'; readonly item: ConversationItem }
    | { readonly type: 'item-deleted'; readonly item: string }
    | { readonly type: 'item-truncated'; readonly item: string; readonly part: number; readonly audioEndMs: number }
    /**
     * `item` is the id of the future item for this speech. `atMs` counts from the session's first audio, in
     * milliseconds.
     */
    | { readonly type: 'speech-started'; readonly item: string; readonly atMs: number }
    | { readonly type: 'speech-stopped'; readonly item: string; readonly atMs: number }
    | { readonly type: 'audio-committed'; readonly item: string; readonly after?: Position }
    | { readonly type: 'audio-cleared' }
    | { readonly type: 'audio-timed-out'; readonly item: string; readonly startMs: number; readonly endMs: number }
    /** A chunk of the transcript of the user's speech. */
    | { readonly type: 'input-transcript-delta'; readonly item: string; readonly part: number; readonly text: string }
    | {
        readonly type: 'input-transcript-done'
        readonly item: string
        readonly part: number
        readonly text: string
        readonly usage?: Usage
        /** Duration of the transcribed audio in seconds, if the upstream counts no tokens of the transcript. */
        readonly seconds?: number
        /** True if the tokens of the responses include those of the transcript. */
        readonly isIncluded?: true
      }
    | {
        readonly type: 'input-transcript-failed'
        readonly item: string
        readonly part: number
        readonly error: CanonicalError
      }
    | {
        readonly type: 'response-start'
        readonly response: string
        readonly modalities?: readonly Modality[]
        readonly metadata?: JsonObject
        /** True if the response and its items are outside the conversation. */
        readonly detached?: true
      }
    /** The item has no content, or one tool-call part with empty arguments. */
    | {
        readonly type: 'output-start'
        readonly response: string
        readonly output: number
        readonly item: ConversationItem & { readonly id: string }
        readonly after?: Position
      }
    | { readonly type: 'part-start'; readonly at: OutputPosition; readonly kind: 'text' | 'audio' }
    | { readonly type: 'text-delta'; readonly at: OutputPosition; readonly text: string }
    /** A chunk of an audio part's transcript. */
    | { readonly type: 'transcript-delta'; readonly at: OutputPosition; readonly text: string }
    /** Audio in the session's output format, in chunks that may end anywhere. */
    | { readonly type: 'audio-delta'; readonly at: OutputPosition; readonly audio: Uint8Array }
    | { readonly type: 'arguments-delta'; readonly at: OutputPosition; readonly text: string }
    | { readonly type: 'part-end'; readonly at: OutputPosition }
    | {
        readonly type: 'output-end'
        readonly response: string
        readonly output: number
        readonly item: string
        readonly status: ItemStatus
      }
    | {
        readonly type: 'response-end'
        readonly response: string
        readonly status: ResponseStatus
        readonly reason?: ResponseReason
        readonly error?: CanonicalError
        readonly usage?: Usage
      }
    | { readonly type: 'rate-limits'; readonly limits: readonly VoiceRateLimit[] }
    /** An error that does not end the session. `event` is the id of the client event that caused it. */
    | { readonly type: 'error'; readonly error: CanonicalError; readonly event?: string }
    | { readonly type: 'opaque'; readonly format: Format; readonly value: JsonObject }
  )

export type ResponseStatus = 'completed' | 'cancelled' | 'failed' | 'incomplete'

export type ResponseReason = 'turn_detected' | 'client_cancelled' | 'max_output_tokens' | 'content_filter'

export interface VoiceRateLimit {
  readonly name: 'requests' | 'tokens'
  readonly limit: number
  readonly remaining: number
  readonly resetSeconds: number
}
