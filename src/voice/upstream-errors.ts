import { GatewayError } from '../canonical/error.ts'

/* Errors for all kinds of connections to upstreams. */

export const CALLER_DISCONNECTED = new GatewayError({ kind: 'cancelled', message: 'The caller disconnected.' })

export const SESSION_TIMED_OUT = new GatewayError({
  kind: 'timed-out',
  message: 'The upstream did not create the session in time.',
})

export const SESSION_LOST = new GatewayError({ kind: 'upstream-failed', message: 'The upstream ended the session.' })

/** The error for a connection that the upstream closed before its session started. */
export const closedEarly = (code: number): GatewayError =>
  new GatewayError({ kind: 'unreachable', message: `The upstream closed the connection (${code}).` })
