import { type CanonicalError, type ErrorKind, GatewayError, upstreamFailed } from '../../../canonical/error.ts'
import { defined, isObject, type Json, type JsonObject } from '../../../canonical/node.ts'

const BY_CODE: { readonly [code: string]: ErrorKind } = {
  rate_limit_exceeded: 'rate-limited',
  insufficient_quota: 'out-of-credit',
  invalid_api_key: 'unauthenticated',
  model_not_found: 'not-found',
  context_length_exceeded: 'context-too-long',
}

const BY_TYPE: { readonly [type: string]: ErrorKind } = {
  invalid_request_error: 'invalid-request',
  authentication_error: 'unauthenticated',
  permission_error: 'forbidden',
  rate_limit_error: 'rate-limited',
  insufficient_quota: 'out-of-credit',
  server_error: 'upstream-failed',
}

/** Error for an upstream whose first frame has no event type. */
export const NOT_AN_EVENT = new GatewayError(upstreamFailed('The first frame from the upstream is not an event.'))

/** Reads the `error` object of an event or of a response's `status_details`. */
export function readError(value: Json | undefined): CanonicalError {
  const error = isObject(value) ? value : {}
  const code = text(error['code'])
  return defined({
    kind: BY_CODE[code ?? ''] ?? BY_TYPE[text(error['type']) ?? ''] ?? 'upstream-failed',
    message: text(error['message']) ?? (typeof value === 'string' ? value : 'The upstream reported an error.'),
    code,
    param: text(error['param']),
  }) as CanonicalError
}

const text = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined)

const TYPE_BY_KIND: { readonly [K in ErrorKind]?: string } = {
  unauthenticated: 'authentication_error',
  forbidden: 'permission_error',
  'out-of-credit': 'insufficient_quota',
  'rate-limited': 'rate_limit_error',
  internal: 'server_error',
  'upstream-failed': 'server_error',
  unreachable: 'server_error',
  overloaded: 'server_error',
  'upstream-account': 'server_error',
  'timed-out': 'server_error',
}

/** Writes the `error` object. `event` is the id of the client event that caused the error. */
export const writeError = ({ kind, message, code, param }: CanonicalError, event?: string): JsonObject => ({
  type: TYPE_BY_KIND[kind] ?? 'invalid_request_error',
  code: code ?? kind.replaceAll('-', '_'),
  message,
  param: param === undefined || param === '' ? null : param,
  event_id: event ?? null,
})
