import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../canonical/error.ts'
import { excerpt } from '../canonical/text.ts'
import { pathOf } from './address.ts'

/** Error for a known path that does not support the method. */
export const wrongMethod = ({ method }: IncomingMessage): GatewayError =>
  new GatewayError({ kind: 'method-not-allowed', message: `This path does not support ${method}.` })

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
