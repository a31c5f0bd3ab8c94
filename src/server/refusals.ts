import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../canonical/error.ts'
import { excerpt } from '../canonical/text.ts'
import { pathOf } from './address.ts'

/** Error for a known path called with an unsupported method. */
export const wrongMethod = ({ method }: IncomingMessage): GatewayError =>
  new GatewayError({ kind: 'method-not-allowed', message: `This path does not support ${method}.` })

/** Error for an unknown path. Suggests `/v1`, which clients often leave out of their base URL. */
export function unknownPath(message: IncomingMessage, known: ReadonlySet<string>): GatewayError {
  const path = pathOf(message)
  const hint = known.has(`/v1${path}`) ? ` Did you mean /v1${path}?` : ''
  return new GatewayError({
    kind: 'not-found',
    message: `There is nothing at ${message.method} ${excerpt(path)}.${hint}`,
  })
}

/** Error for any expectation other than `100-continue` (RFC 9110, section 10.1.1). */
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
