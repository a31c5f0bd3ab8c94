import { type CanonicalError, type ErrorKind, kindOf } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { classified, retryAfter } from '../errors/classify.ts'
import { anyText, defined } from '../fields.ts'

/** An error answer of a responses upstream (FORMATS §15); a proxy in front of one may use another shape. */
export function readError({ status, body, headers }: WireAnswer): CanonicalError {
  const error = isObject(body['error']) ? body['error'] : {}
  const message =
    anyText(error['message']) ?? anyText(body['message']) ?? anyText(body['detail']) ?? anyText(body['error'])
  const read: CanonicalError = {
    kind: kindOfCode(error) ?? kindOf(status),
    message: message ?? `The upstream answered with status ${status}.`,
    ...defined({
      param: anyText(error['param']),
      code: anyText(error['code']),
      retryAfterSeconds: retryAfter(headers),
    }),
    ...retryElsewhere(error),
    status,
  }
  return classified(read, anyText(error['type']))
}

/** An error inside an answer or a stream: flat, or in an object (trap 75). */
export function readInnerError(wire: JsonObject): CanonicalError {
  const error = isObject(wire['error']) ? wire['error'] : wire
  const read: CanonicalError = {
    kind: kindOfCode(error) ?? kindOfType(error) ?? 'upstream-failed',
    message: anyText(error['message']) ?? anyText(wire['error']) ?? 'The upstream failed.',
    ...defined({ param: anyText(error['param']), code: anyText(error['code']) }),
    ...retryElsewhere(error),
  }
  return classified(read, anyText(error['type']))
}

/** A turn that one upstream does not have another may have; the status is 400 all the same. */
const retryElsewhere = ({ code }: JsonObject): { readonly retry?: true } =>
  code === 'previous_response_not_found' ? { retry: true } : {}

const kindOfCode = (error: JsonObject): ErrorKind | undefined => CODES.get(error['code'])

const kindOfType = (error: JsonObject): ErrorKind | undefined =>
  TYPES.get(error['type']) ?? (anyText(error['code'])?.includes('image') ? 'invalid-request' : undefined)

/** Codes that are more precise than a status or a type. */
const CODES: ReadonlyMap<Json | undefined, ErrorKind> = new Map<Json | undefined, ErrorKind>([
  ['invalid_api_key', 'unauthenticated'],
  ['insufficient_quota', 'out-of-credit'],
  ['credit_balance_exhausted', 'out-of-credit'],
  ['model_not_found', 'not-found'],
  ['not_found', 'not-found'],
  ['previous_response_not_found', 'invalid-request'],
  ['method_not_allowed', 'method-not-allowed'],
  ['request_too_large', 'too-large'],
  ['cannot_express', 'cannot-express'],
  ['rate_limit_exceeded', 'rate-limited'],
  ['server_is_overloaded', 'overloaded'],
  ['slow_down', 'overloaded'],
  ['timed_out', 'timed-out'],
  ['vector_store_timeout', 'timed-out'],
  ['upstream_account', 'upstream-account'],
  ['invalid_prompt', 'invalid-request'],
  ['context_length_exceeded', 'invalid-request'],
])

const TYPES: ReadonlyMap<Json | undefined, ErrorKind> = new Map<Json | undefined, ErrorKind>([
  ['invalid_request_error', 'invalid-request'],
  ['authentication_error', 'unauthenticated'],
  ['insufficient_quota', 'out-of-credit'],
  ['permission_error', 'forbidden'],
  ['not_found_error', 'not-found'],
  ['conflict_error', 'conflict'],
  ['rate_limit_error', 'rate-limited'],
  ['requests', 'rate-limited'],
  ['tokens', 'rate-limited'],
  ['cancelled', 'cancelled'],
  ['internal_error', 'internal'],
  ['service_unavailable_error', 'overloaded'],
  ['overloaded_error', 'overloaded'],
  ['timeout_error', 'timed-out'],
])
