import { type CanonicalError, ERRORS, type ErrorKind } from '../../canonical/error.ts'
import type { WireAnswer } from '../../canonical/exchange.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { defined } from '../fields.ts'
import { waitHeader } from '../wait.ts'

/** What the format calls each kind of failure, and the code where it has a fixed one (FORMATS §15). */
const WORDS: { readonly [K in ErrorKind]: readonly [type: string, code: string | null] } = {
  'invalid-request': ['invalid_request_error', null],
  unauthenticated: ['authentication_error', 'invalid_api_key'],
  'out-of-credit': ['insufficient_quota', 'insufficient_quota'],
  forbidden: ['permission_error', null],
  'not-found': ['not_found_error', 'not_found'],
  'method-not-allowed': ['invalid_request_error', 'method_not_allowed'],
  conflict: ['conflict_error', null],
  'too-large': ['invalid_request_error', 'request_too_large'],
  'cannot-express': ['invalid_request_error', 'cannot_express'],
  'rate-limited': ['rate_limit_error', 'rate_limit_exceeded'],
  cancelled: ['cancelled', null],
  internal: ['internal_error', 'server_error'],
  'upstream-failed': ['server_error', 'server_error'],
  overloaded: ['service_unavailable_error', 'server_is_overloaded'],
  'timed-out': ['timeout_error', 'timed_out'],
}

/** Out of credit is 429 here: no client of the format knows 402. */
const statusOf = (kind: ErrorKind): number => (kind === 'out-of-credit' ? 429 : ERRORS[kind].status)

/** An error before the first byte. */
export function writeError(error: CanonicalError, requestId: string): WireAnswer {
  const { message, param } = error
  const [type, code] = WORDS[error.kind]
  return {
    status: statusOf(error.kind),
    headers: { 'x-request-id': requestId, ...waitHeader(error) },
    body: { error: { message, type, param: param ?? null, code: error.code ?? code } },
  }
}

/** The error of an answer that failed (trap 75): a code is required there. */
export function failureOf(error: CanonicalError): JsonObject {
  const [type, code] = WORDS[error.kind]
  return { code: error.code ?? code ?? type, message: error.message, type, ...defined({ param: error.param }) }
}
