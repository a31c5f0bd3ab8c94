import type { IncomingMessage } from 'node:http'
import type { Caller } from '../accounts/index.ts'
import type { GatewayError } from '../canonical/error.ts'
import type { Format, JsonObject } from '../canonical/node.ts'
import type { FramingKind } from '../egress/transport/framings.ts'
import type { RequestHead, Route } from '../formats/routes.ts'
import type { Turns } from '../store/turns.ts'

/** A caller's request as it arrived at an endpoint. */
export interface Call {
  /** Id of the request in headers, errors and the log. */
  readonly id: string
  readonly format: Format
  /** Path of the endpoint for the log, without query and credentials. */
  readonly path: string
  /** Row of the endpoint, which defines how a body becomes a request. */
  readonly route: Route
  /** HTTP message: its headers, and its body until it is read. */
  readonly message: IncomingMessage
  /** Body, if it did not arrive with `message`. */
  readonly body?: JsonObject
  /** Value of the query parameter `?key=`. */
  readonly queryKey?: string | undefined
  /** Headers, path and query values that are part of the request. */
  readonly head: RequestHead
  readonly framing: FramingKind
  /** Reply to the caller. Wrapped if the answer is captured. Replaced if the answer is produced in the background. */
  reply: Reply
  /**
   * Turns of a WebSocket connection. They are searched before the store, and hold this turn even if the store must not
   * hold it.
   */
  readonly turns?: Turns
  /**
   * True if references that the gateway cannot resolve are refused (`previous_response_not_found`) instead of being
   * sent to an upstream.
   */
  readonly strict?: true
  /** True if the gateway itself makes this request, in canonical form. No upstream is native for this request. */
  readonly fromGateway?: true
  /** True if the turn is only stored, so that a later request can continue it, and nothing is generated. */
  readonly silent?: true
  /** Caller on whose behalf an administrator sends the request. No credential is checked. */
  readonly as?: Caller
  /** Id of the captured request that this one resends. */
  readonly repeats?: string
}

/**
 * Work that stops when the caller leaves or the gateway shuts down. An object rather than a function, because V8
 * retains every function in such a field with its scope until the next full collection. Functions cost a fifth of the
 * CPU time of short requests.
 */
export interface Abortable {
  /** @param why the error to write to the caller. Absent if the caller left. */
  abort(why?: GatewayError): void
}

/** Reply to the caller: a whole answer, or a head followed by chunks. */
export interface Reply {
  /** True if the caller left before the answer was complete. */
  readonly gone: boolean
  /** True if part of the answer was already sent, so that an error can only be an event. */
  readonly started: boolean
  /** Work in progress on the answer. It is aborted when the caller leaves. */
  abortable: Abortable | undefined
  /** Adds the remaining limits of the key to the head of the answer. */
  rateHeaders?: HeaderSource | undefined
  /** True if the trailer fields of a streamed answer reach the caller. */
  readonly acceptsTrailers?: boolean
  /** Trailer fields of a streamed answer. Set only if `acceptsTrailers` is true. */
  trailers?: Headers | undefined
  whole(status: number, headers: Headers, text: string): void
  begin(headers: Headers, status?: number): void
  write(piece: string | Uint8Array): boolean
  end(text: string): unknown
  once(event: 'drain', listener: () => void): unknown
  /** Calls the listener as `whenSent` does. Absent if nothing waits to be sent. */
  whenSent?(listener: () => void): void
  destroy(): unknown
}

/** Calls the listener once the caller has read the answer or left: at once if little is left to send. */
export function whenSent(reply: Reply, listener: () => void): void {
  if (reply.whenSent === undefined) listener()
  else reply.whenSent(listener)
}

/** Headers whose values are computed when they are sent. */
export interface HeaderSource {
  /** Adds the headers to `head`. */
  addTo(head: { [name: string]: string }): void
}

/** Headers by lower-case name. */
export type Headers = { readonly [name: string]: string }
