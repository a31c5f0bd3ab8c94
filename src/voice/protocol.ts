import type { GatewayError } from '../canonical/error.ts'
import type { Loss } from '../canonical/loss.ts'
import type { JsonObject } from '../canonical/node.ts'
import type { AudioFormat } from '../canonical/session.ts'
import type { ClientEvent, ServerEvent } from '../canonical/session-event.ts'
import type { SessionEnd, UpstreamOptions } from './upstream.ts'

/**
 * A format that upstreams speak over a WebSocket, for one session: a push machine that neither waits nor throws. It
 * joins the format's reader of server events and writer of client events with what both need of the session.
 * `WebSocketUpstream` owns the socket.
 */
export interface Protocol {
  readonly audio: { readonly input: AudioFormat; readonly output: AudioFormat }
  /** Path and query below the channel's base address, for the first connection and every later one. */
  readonly address: { readonly path: string; readonly query: { readonly [name: string]: string } }
  /** Text frames of JSON, unless the upstream wants binary ones. */
  readonly binary?: true
  /** Pure; see `Upstream.losses`. */
  losses(event: ClientEvent): readonly Loss[]
  /** A connection is open: the first one, or the next after `reconnect`. */
  opened(): Step
  client(event: ClientEvent): Step
  /** A frame of the upstream: text, also where it came as a binary frame. Rubbish is an `error` event. */
  server(frame: string): Step
  /**
   * The upstream closed the connection, or it broke. With `reconnect` in the answer the session goes on; else
   * `end` is how the caller's connection ends (default: same code and reason, as far as they may be sent).
   */
  closed(code: number, reason: string): Step
}

/** What one input comes to, in this order: frames to the upstream, events to the caller, then the rest. */
export interface Step {
  readonly send?: readonly string[]
  readonly events?: readonly ServerEvent[]
  /** Another connection is opened; the present one is read until it is open, then closed. Client events wait. */
  readonly reconnect?: true
  /** The session is over. */
  readonly end?: SessionEnd
  /** Before the first server event: this upstream will not do, another may be tried. */
  readonly refused?: GatewayError
}

export interface ProtocolOptions extends Omit<UpstreamOptions, 'listener'> {
  /** Flags of the channel's dialect of the format. */
  readonly dialect: JsonObject
}

export const STAY: Step = {}
