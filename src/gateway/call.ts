import type { IncomingMessage } from 'node:http'
import type { Caller } from '../accounts/index.ts'
import type { GatewayError } from '../canonical/error.ts'
import type { Format, JsonObject } from '../canonical/node.ts'
import type { RequestHead, Route } from '../formats/routes.ts'
import type { Turns } from '../store/turns.ts'

/** A caller's request as it came in at an endpoint. */
export interface Call {
  /** Names the request in headers, errors and the log. */
  readonly id: string
  readonly format: Format
  /** The path of the endpoint, for the log: query and credentials are not in it. */
  readonly path: string
  /** The endpoint: how bodies become requests there. */
  readonly route: Route
  /** Headers, and the body still to be read. */
  readonly message: IncomingMessage
  /** The body, where it did not come with the message. */
  readonly body?: JsonObject
  /** The value of `?key=`, where there is one. */
  readonly queryKey?: string | undefined
  /** What a request has of its message beside the body. */
  readonly head: RequestHead
  /** How a stream is framed here: server-sent events, one JSON array, or one event a line. */
  readonly framing: 'events' | 'array' | 'lines'
  /** Replaced where the answer is captured, or made in the background: by one that records what passes. */
  reply: Reply
  /** The turns of a socket, searched before the store; this turn is added even where the store is not to keep it. */
  readonly turns?: Turns
  /** References that the gateway cannot resolve are refused (`previous_response_not_found`), never sent to an upstream. */
  readonly strict?: true
  /** The gateway makes the request itself, in canonical form: it is native nowhere. */
  readonly own?: true
  /** Nothing is to be generated: the turn is only stored, to be continued. */
  readonly silent?: true
  /** In whose name an administrator makes it: no credential is looked for. */
  readonly as?: Caller
  /** The id of the captured request that it repeats. */
  readonly repeats?: string
}

/**
 * Work that is stopped when the caller leaves, or the gateway stops. An object and never a bare function: the engine
 * keeps every function that was stored in such a field, with its whole scope, until the next full collection, which
 * cost a fifth of the CPU of short requests.
 */
export interface Abortable {
  /** @param why the error to write to the caller; absent where the caller left. */
  abort(why?: GatewayError): void
}

/** The response path to the caller: a whole answer, or a beginning and then text until the end. */
export interface Reply {
  /** The caller left before the answer was whole. */
  readonly gone: boolean
  /** Something was sent already: an error can only be an event now. */
  readonly begun: boolean
  /** What works on the answer at the time: aborted when the caller leaves. */
  abortable: Abortable | undefined
  /** What is left of the key's limits, which the head of any answer states, where answers have one. */
  rateHeaders?: HeaderSource | undefined
  whole(status: number, headers: Headers, text: string): void
  begin(headers: Headers, status?: number): void
  write(piece: string | Uint8Array): boolean
  end(text: string): unknown
  once(event: 'drain', listener: () => void): unknown
  destroy(): unknown
}

/** Headers that are made when they are sent. */
export interface HeaderSource {
  /** Adds them to those of an answer. */
  addTo(head: { [name: string]: string }): void
}

export type Headers = { readonly [name: string]: string }
