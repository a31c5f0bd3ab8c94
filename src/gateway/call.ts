import type { IncomingMessage } from 'node:http'
import type { Credentials } from '../access/index.ts'
import { defined } from '../canonical/defined.ts'
import type { GatewayError } from '../canonical/error.ts'
import type { Format, JsonObject } from '../canonical/node.ts'
import type { WireEvent, WireFile, WireRequest } from '../canonical/wire.ts'
import type { Turns } from '../store/turns.ts'

/** A caller's request as it came in at an endpoint. */
export interface Call {
  /** Names the request in headers, errors and the log. */
  readonly id: string
  readonly format: Format
  /** The path of the endpoint, for the log: query and credentials are not in it. */
  readonly path: string
  /** Headers, and the body still to be read. */
  readonly message: IncomingMessage
  /** The body, where it did not come with the message. */
  readonly body?: JsonObject
  /** The value of `?key=`, where there is one. */
  readonly queryKey?: string
  /**
   * The request in its format.
   *
   * @throws GatewayError `invalid-request` for a version the endpoint does not know, or another endpoint's body.
   */
  wire(body: JsonObject, files?: readonly WireFile[]): WireRequest
  /** Whether a form may come here, and where it may, what must be known of it before a file may flow through. */
  readonly form?: { readonly only: boolean; readonly needs: string }
  /** How a stream is framed here: server-sent events, one JSON array, or one event a line. */
  readonly framing: 'events' | 'array' | 'lines'
  /** The format's own sign of life on a silent stream. */
  readonly heartbeat?: WireEvent
  readonly reply: Reply
  /** A memory that is asked before the store, and keeps this turn even where the store is not to: a connection's own. */
  readonly turns?: Turns
  /** What is not known here is never asked of an upstream: `previous_response_not_found` says this gateway. */
  readonly strict?: true
  /** The gateway makes the request itself, in canonical form: it is native nowhere. */
  readonly own?: true
  /** Nothing is to be generated: the turn is only kept, to be gone on from. */
  readonly silent?: true
}

/**
 * Told to stop when the caller leaves, or must be left. An object and never a bare function: the engine keeps every function that was
 * stored in such a field, with all it knows of its request, until the next full collection, which cost a fifth of the
 * CPU of short requests.
 */
export interface Worker {
  /** @param why what the caller is still to be told; nobody listens any more where it is absent. */
  abort(why?: GatewayError): void
}

/** The way back to the caller: a whole answer, or a beginning and then text until the end. */
export interface Reply {
  /** The caller left before the answer was whole. */
  readonly gone: boolean
  /** Something was sent already: an error can only be an event now. */
  readonly begun: boolean
  /** Who works for the caller at the time. */
  worker: Worker | undefined
  /** What the head of any answer holds besides, where answers have one. */
  headers?: HeaderSource | undefined
  whole(status: number, headers: Headers, text: string): void
  begin(headers: Headers): void
  write(piece: string | Uint8Array): boolean
  end(text: string): unknown
  once(event: 'drain', listener: () => void): unknown
  destroy(): unknown
}

/** Headers that are made when they are sent. */
export interface HeaderSource {
  read(): Headers
}

type Headers = { readonly [name: string]: string }

/** Where a call may carry its credential. */
export const credentialsOf = ({ message, queryKey }: Pick<Call, 'message' | 'queryKey'>): Credentials => ({
  headers: message.headers,
  ...defined({ queryKey }),
})
