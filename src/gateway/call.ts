import type { IncomingMessage } from 'node:http'
import type { Caller } from '../accounts/index.ts'
import type { GatewayError } from '../canonical/error.ts'
import type { Format, JsonObject } from '../canonical/node.ts'
import type { RequestHead, Route } from '../formats/routes.ts'
import type { Turns } from '../store/turns.ts'

/** A caller's request as it arrived at an endpoint. */
export interface Call {
  /** Identifies the request in headers, errors and the log. */
  readonly id: string
  readonly format: Format
  /** The endpoint's path for the log, without query and credentials. */
  readonly path: string
  /** The endpoint's row: how a body becomes a request there. */
  readonly route: Route
  /** The HTTP message: its headers, and its body until that is read. */
  readonly message: IncomingMessage
  /** The body, if it did not arrive with `message`. */
  readonly body?: JsonObject
  /** The value of the query parameter `?key=`. */
  readonly queryKey?: string | undefined
  /** Headers, path and query values that are part of the request. */
  readonly head: RequestHead
  /** The framing of a streamed answer: server-sent events, one JSON array, or one event per line. */
  readonly framing: 'events' | 'array' | 'lines'
  /** The way back to the caller. Wrapped if the answer is captured; replaced if it is produced in the background. */
  reply: Reply
  /**
   * The turns of a WebSocket connection. They are searched before the store, and hold this turn even if the store must
   * not.
   */
  readonly turns?: Turns
  /**
   * Refuse references that the gateway cannot resolve (`previous_response_not_found`) instead of sending them to an
   * upstream.
   */
  readonly strict?: true
  /** The gateway makes this request itself, in canonical form; no upstream is native for it. */
  readonly fromGateway?: true
  /** Only store the turn, so that a later request can continue it; generate nothing. */
  readonly silent?: true
  /** The caller in whose name an administrator sends the request; no credential is checked. */
  readonly as?: Caller
  /** The id of the captured request that this one resends. */
  readonly repeats?: string
}

/**
 * Work that stops when the caller leaves or the gateway shuts down. An object rather than a function: V8 keeps every
 * function stored in such a field alive with its scope until the next full collection, which cost a fifth of the CPU
 * time of short requests.
 */
export interface Abortable {
  /** @param why the error to write to the caller; absent if the caller left. */
  abort(why?: GatewayError): void
}

/** The way back to the caller: a whole answer, or a head followed by chunks of text. */
export interface Reply {
  /** The caller left before the answer was complete. */
  readonly gone: boolean
  /** Part of the answer was sent already, so that an error can only be an event. */
  readonly started: boolean
  /** The work in progress on the answer; aborted when the caller leaves. */
  abortable: Abortable | undefined
  /** Adds the remaining limits of the key to the head of the answer. */
  rateHeaders?: HeaderSource | undefined
  /** Fields after the body of a streamed answer, for callers that accept trailers. */
  trailers?: Headers | undefined
  whole(status: number, headers: Headers, text: string): void
  begin(headers: Headers, status?: number): void
  write(piece: string | Uint8Array): boolean
  end(text: string): unknown
  once(event: 'drain', listener: () => void): unknown
  destroy(): unknown
}

/** Headers whose values are computed at the moment they are sent. */
export interface HeaderSource {
  /** Adds the headers to `head`. */
  addTo(head: { [name: string]: string }): void
}

/** Headers by lower-case name. */
export type Headers = { readonly [name: string]: string }
