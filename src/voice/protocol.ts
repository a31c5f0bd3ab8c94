import type { GatewayError } from '../canonical/error.ts'
import type { Loss } from '../canonical/loss.ts'
import type { JsonObject } from '../canonical/node.ts'
import type { ClientEvent, ServerEvent } from '../canonical/voice-session-event.ts'
import type { SessionEnd, UpstreamAudio, UpstreamOptions } from './upstream.ts'

/**
 * A WebSocket format of upstreams, as a state machine for one session. It combines the format's reader of server events
 * with its writer of client events. A protocol neither waits nor throws. `WebSocketUpstream` owns the socket.
 */
export interface Protocol {
  readonly audio: UpstreamAudio
  /** As in `Upstream`. */
  readonly countsLate?: boolean
  /** Path and query, relative to the channel's base URL. Used for the first connection and for every reconnect. */
  readonly address: { readonly path: string; readonly query: { readonly [name: string]: string } }
  /** True if the upstream expects binary frames. Otherwise, JSON is sent in text frames. */
  readonly binary?: true
  /** Returns the losses of a client event, as `Upstream.losses` does. Has no side effects. */
  losses(event: ClientEvent): readonly Loss[]
  /** Handles an open connection: the first one, or a new one after `reconnect`. */
  opened(): Step
  client(event: ClientEvent): Step
  /**
   * Handles a frame from the upstream, which is passed as text even if it was binary. Returns an `error` event if the
   * frame is unreadable.
   */
  server(frame: string): Step
  /**
   * Handles a closed or broken connection. The session continues if the result has `reconnect`. Otherwise, `end`
   * determines how the caller's connection is closed. By default, the same code and reason are used if they may be
   * sent.
   */
  closed(code: number, reason: string): Step
}

/**
 * Outcome of one input. The order of processing is: frames to the upstream, events to the caller, then the other
 * fields.
 */
export interface Step {
  readonly send?: readonly string[]
  readonly events?: readonly ServerEvent[]
  /**
   * True to open a new connection. The current connection is still read until the new one is open, and is then closed.
   * In the meantime, client events are queued.
   */
  readonly reconnect?: true
  /** End of the session. */
  readonly end?: SessionEnd
  /** Refusal before the first server event. This upstream cannot serve the session, but another one may be tried. */
  readonly refused?: GatewayError
}

export interface ProtocolOptions extends Omit<UpstreamOptions, 'listener'> {
  /** Flags of the channel's dialect. */
  readonly dialect: JsonObject
}

/** Outcome of an input without effect. */
export const NO_STEP: Step = {}
