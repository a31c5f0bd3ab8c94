import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../canonical/error.ts'
import { excerpt } from '../canonical/text.ts'
import { pathOf } from './address.ts'

/** The error for a known path with another method. */
export const wrongMethod = ({ method }: IncomingMessage): GatewayError =>
  new GatewayError({ kind: 'method-not-allowed', message: `This path does not take ${method}.` })

/** The error for an unknown path; clients often forget the version in their base address. */
export function unknownPath(message: IncomingMessage, known: ReadonlySet<string>): GatewayError {
  const path = pathOf(message)
  const hint = known.has(`/v1${path}`) ? ` Did you mean /v1${path}?` : ''
  return new GatewayError({
    kind: 'not-found',
    message: `There is nothing at ${message.method} ${excerpt(path)}.${hint}`,
  })
}

/** The error for any expectation but `100-continue` (RFC 9110, section 10.1.1). */
export const unexpected = (): GatewayError =>
  new GatewayError({ kind: 'invalid-request', httpStatus: 417, message: 'The only expectation met is 100-continue.' })

export const missingHost = (): GatewayError =>
  new GatewayError({ kind: 'invalid-request', message: 'The request names no host.' })

export const malformedPath = (): GatewayError =>
  new GatewayError({ kind: 'invalid-request', message: 'The path is malformed.' })
