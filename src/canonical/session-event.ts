import type { CanonicalError } from './error.ts'
import type { Format, JsonObject, Node } from './node.ts'
import type { Modality } from './request.ts'
import type { Usage } from './result.ts'
import type { Item, ItemStatus, ResponseSettings, SessionSettings } from './session.ts'

/** An event of a client in a realtime session. Audio is in the session's input format, cut anywhere. */
export type ClientEvent = ClientBase &
  (
    | { readonly type: 'session-update'; readonly settings: SessionSettings }
    | { readonly type: 'audio-append'; readonly audio: Uint8Array }
    /** What was appended becomes a user's item. */
    | { readonly type: 'audio-commit' }
    | { readonly type: 'audio-clear' }
    /** What was generated and not played is dropped (WebRTC and SIP alone have such a buffer). */
    | { readonly type: 'output-clear' }
    | { readonly type: 'item-create'; readonly item: Item; readonly after?: Position }
    | { readonly type: 'item-retrieve'; readonly item: string }
    | { readonly type: 'item-delete'; readonly item: string }
    /** Only the first `audioEndMs` milliseconds of an assistant's audio were played. */
    | { readonly type: 'item-truncate'; readonly item: string; readonly part: number; readonly audioEndMs: number }
    | { readonly type: 'response-create'; readonly settings?: ResponseSettings }
    | { readonly type: 'response-cancel'; readonly response?: string }
    | { readonly type: 'opaque'; readonly format: Format; readonly value: JsonObject }
  )

interface ClientBase extends Node {
  /** The client's own id of the event, which an error about it names. */
  readonly id?: string
}

/** The item another one comes after; null is the beginning of the conversation. */
export type Position = string | null

/** Where in a response something grows. */
export interface OutputAt {
  readonly response: string
  /** Id of the item, and its place among the response's items. */
  readonly item: string
  readonly output: number
  /** Place among the item's parts; 0 for a function call. */
  readonly part: number
}

/**
 * An event of a server. The grammar a reader produces and a writer relies on:
 *
 *   session-created, then in any order: acknowledgements, input events, responses, rate-limits, errors.
 *   response = response-start
 *              ( output-start ( part-start (text-delta | transcript-delta | audio-delta)* part-end )* arguments-delta* output-end )*
 *              response-end
 *
 * Outputs of a response start in order 0, 1, 2; open ones may interleave. A `response-end` closes what is open. Whole
 * texts are nowhere repeated: writers of formats that repeat them fold the deltas.
 */
export type ServerEvent = Node &
  (
    | {
        readonly type: 'session-created'
        readonly id?: string
        readonly settings: SessionSettings
        /** Unix seconds. */
        readonly expiresAt?: number
      }
    | { readonly type: 'session-updated'; readonly settings: SessionSettings }
    /** A user's, system's or tool's item stands in the conversation; items of responses come by `output-start`. */
    | { readonly type: 'item-added'; readonly item: Item; readonly after?: Position }
    | { readonly type: 'item-done'; readonly item: Item; readonly after?: Position }
    | { readonly type: 'item-retrieved'; readonly item: Item }
    | { readonly type: 'item-deleted'; readonly item: string }
    | { readonly type: 'item-truncated'; readonly item: string; readonly part: number; readonly audioEndMs: number }
    /** `item` is the one the speech will be; milliseconds count from the session's first audio. */
    | { readonly type: 'speech-started'; readonly item: string; readonly atMs: number }
    | { readonly type: 'speech-stopped'; readonly item: string; readonly atMs: number }
    | { readonly type: 'audio-committed'; readonly item: string; readonly after?: Position }
    | { readonly type: 'audio-cleared' }
    | { readonly type: 'audio-timed-out'; readonly item: string; readonly startMs: number; readonly endMs: number }
    /** Transcripts of the user's speech. */
    | { readonly type: 'input-transcript-delta'; readonly item: string; readonly part: number; readonly text: string }
    | {
        readonly type: 'input-transcript-done'
        readonly item: string
        readonly part: number
        readonly text: string
        readonly usage?: Usage
        /** Seconds transcribed, where the upstream bills those. */
        readonly seconds?: number
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
      }
    /** The item has no content yet, or one tool-call part whose arguments are empty. */
    | {
        readonly type: 'output-start'
        readonly response: string
        readonly output: number
        readonly item: Item & { readonly id: string }
        readonly after?: Position
      }
    | { readonly type: 'part-start'; readonly at: OutputAt; readonly kind: 'text' | 'audio' }
    | { readonly type: 'text-delta'; readonly at: OutputAt; readonly text: string }
    /** The transcript of an audio part. */
    | { readonly type: 'transcript-delta'; readonly at: OutputAt; readonly text: string }
    /** In the session's output format, cut anywhere. */
    | { readonly type: 'audio-delta'; readonly at: OutputAt; readonly audio: Uint8Array }
    | { readonly type: 'arguments-delta'; readonly at: OutputAt; readonly text: string }
    | { readonly type: 'part-end'; readonly at: OutputAt }
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
    | { readonly type: 'rate-limits'; readonly limits: readonly SessionRateLimit[] }
    /** The session goes on. `event` is the id of the client event at fault. */
    | { readonly type: 'error'; readonly error: CanonicalError; readonly event?: string }
    | { readonly type: 'opaque'; readonly format: Format; readonly value: JsonObject }
  )

export type ResponseStatus = 'completed' | 'cancelled' | 'failed' | 'incomplete'

export type ResponseReason = 'turn_detected' | 'client_cancelled' | 'max_output_tokens' | 'content_filter'

export interface SessionRateLimit {
  readonly name: 'requests' | 'tokens'
  readonly limit: number
  readonly remaining: number
  readonly resetSeconds: number
}
