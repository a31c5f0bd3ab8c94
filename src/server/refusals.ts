import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../canonical/error.ts'
import { pathOf } from './url.ts'

/** A known path, asked in another way than it answers. */
export const wrongMethod = ({ method }: IncomingMessage): GatewayError =>
  new GatewayError({ kind: 'method-not-allowed', message: `This path does not take ${method}.` })

/** A path nobody knows; clients often forget the version in their base address. */
export function unknownPath(message: IncomingMessage, known: ReadonlySet<string>): GatewayError {
  const path = pathOf(message)
  const hint = known.has(`/v1${path}`) ? ` Did you mean /v1${path}?` : ''
  return new GatewayError({ kind: 'not-found', message: `There is nothing at ${message.method} ${path}.${hint}` })
}

/** What a caller expects before it sends its body is to be told to go on, or nothing (RFC 9110, section 10.1.1). */
export const unexpected = (): GatewayError =>
  new GatewayError({ kind: 'invalid-request', httpStatus: 417, message: 'The only expectation met is 100-continue.' })

export const nameless = (): GatewayError =>
  new GatewayError({ kind: 'invalid-request', message: 'The request names no host.' })

export const malformedPath = (): GatewayError =>
  new GatewayError({ kind: 'invalid-request', message: 'The path is malformed.' })
