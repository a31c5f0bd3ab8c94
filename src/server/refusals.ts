import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../canonical/error.ts'
import { excerpt } from '../canonical/text.ts'
import { pathOf } from './address.ts'

/** Error for a known path that does not support the method. */
export const wrongMethod = ({ method }: IncomingMessage): GatewayError =>
  new GatewayError({ kind: 'method-not-allowed', message: `This path does not support ${method}.` })

/**
 * Error for the rest of a WebSocket handshake from which a proxy removed the upgrade. Codex goes on over HTTP at once
 * only after 426, and otherwise tries again for ten to twenty seconds (NVIDIA/NeMo-Relay#994, read on 2026-12-01).
 */
const lostUpgrade = (): GatewayError =>
  new GatewayError({
    kind: 'invalid-request',
    httpStatus: 426,
    code: 'upgrade_required',
    message:
      'The WebSocket handshake arrived without its upgrade: a proxy in between must pass the headers `Upgrade` and `Connection` over HTTP/1.1.',
  })

/** Refusal of a method that a known path does not support, and its headers. */
export const refusedMethod = (
  message: IncomingMessage,
  allow: string,
): { readonly error: GatewayError; readonly headers: { readonly [name: string]: string } } =>
  message.method === 'GET' && message.headers['sec-websocket-key'] !== undefined
    ? { error: lostUpgrade(), headers: { connection: 'upgrade', upgrade: 'websocket' } }
    : { error: wrongMethod(message), headers: { allow } }

/** Error for an unknown path. */
export const unknownPath = (message: IncomingMessage): GatewayError =>
  new GatewayError({
    kind: 'not-found',
    message: `There is nothing at ${message.method} ${excerpt(pathOf(message))}.`,
  })

/** Error for an expectation other than `100-continue` (RFC 9110, section 10.1.1). */
export const unexpected = (): GatewayError =>
  new GatewayError({
    kind: 'invalid-request',
    httpStatus: 417,
    message: 'The only supported expectation is 100-continue.',
  })

export const missingHost = (): GatewayError =>
  new GatewayError({ kind: 'invalid-request', message: 'The request has no host header.' })

export const malformedPath = (): GatewayError =>
  new GatewayError({ kind: 'invalid-request', message: 'The path is malformed.' })
