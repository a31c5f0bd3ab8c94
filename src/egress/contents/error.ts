import type { CanonicalError, ErrorKind } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { messageOf, retryAfterHeader, type TooLongMessage } from '../errors/error.ts'

/** An error in Google's terms. */
interface GoogleError {
  readonly code: number
  readonly status: string
  /** Reason that Google adds if the status alone is too general. */
  readonly reason?: string
  /** Error code for errors that have none. */
  readonly fallback?: string
}

/**
 * Google's status for each error kind (docs/wire/errors.md#google-statuses). The gateway answers an invalid key with
 * 401 at every endpoint, and adds Google's reason in this format.
 */
const ERRORS_BY_KIND: { readonly [K in ErrorKind]: GoogleError } = {
  'invalid-request': { code: 400, status: 'INVALID_ARGUMENT' },
  'context-too-long': { code: 400, status: 'INVALID_ARGUMENT' },
  unauthenticated: { code: 401, status: 'UNAUTHENTICATED', reason: 'API_KEY_INVALID' },
  'out-of-credit': { code: 429, status: 'RESOURCE_EXHAUSTED', reason: 'OUT_OF_CREDIT' },
  forbidden: { code: 403, status: 'PERMISSION_DENIED' },
  'not-found': { code: 404, status: 'NOT_FOUND' },
  'method-not-allowed': { code: 405, status: 'INVALID_ARGUMENT' },
  conflict: { code: 409, status: 'ABORTED' },
  'too-large': { code: 413, status: 'INVALID_ARGUMENT' },
  'cannot-express': { code: 422, status: 'FAILED_PRECONDITION', reason: 'CANNOT_EXPRESS' },
  'rate-limited': { code: 429, status: 'RESOURCE_EXHAUSTED' },
  cancelled: { code: 499, status: 'CANCELLED' },
  internal: { code: 500, status: 'INTERNAL' },
  'upstream-failed': { code: 502, status: 'UNAVAILABLE' },
  unreachable: { code: 502, status: 'UNAVAILABLE' },
  'upstream-account': { code: 503, status: 'UNAVAILABLE', reason: 'UPSTREAM_ACCOUNT', fallback: 'upstream_account' },
  overloaded: { code: 503, status: 'UNAVAILABLE' },
  'timed-out': { code: 504, status: 'DEADLINE_EXCEEDED' },
}

/** Google's message for a request that is too long. Agents search for it (trap 98). */
const TOO_LONG: TooLongMessage = {
  pattern: /input token count.*exceeds the maximum number of tokens allowed/i,
  write: (tokens, maximum) =>
    `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${maximum}).`,
  else: 'The input token count exceeds the maximum number of tokens allowed.',
}

const TYPE_PREFIX = 'type.googleapis.com/google.rpc.'

/** Writes an error that occurs before the first byte of an answer. */
export function writeError(error: CanonicalError): WireAnswer {
  return {
    status: error.httpStatus ?? ERRORS_BY_KIND[error.kind].code,
    headers: retryAfterHeader(error),
    body: errorBody(error),
  }
}

/** Returns the body of an error. A stream sends the same object as an event (trap 75). */
export function errorBody(error: CanonicalError): JsonObject {
  const { code: defaultCode, status } = ERRORS_BY_KIND[error.kind]
  const code = error.httpStatus ?? defaultCode
  const details = detailsOf(error)
  return { error: { code, message: messageOf(error, TOO_LONG), status, ...(details.length === 0 ? {} : { details }) } }
}

function detailsOf({ kind, param, message, retryAfterSeconds, ...error }: CanonicalError): readonly JsonObject[] {
  const { reason, fallback } = ERRORS_BY_KIND[kind]
  const code = error.code ?? fallback
  const details: JsonObject[] = []
  if (reason !== undefined || code !== undefined)
    details.push({
      '@type': `${TYPE_PREFIX}ErrorInfo`,
      reason: reason ?? reasonOf(code!),
      domain: 'googleapis.com',
      ...(code === undefined ? {} : { metadata: { code } }),
    })
  if (param !== undefined)
    details.push({ '@type': `${TYPE_PREFIX}BadRequest`, fieldViolations: [{ field: param, description: message }] })
  if (retryAfterSeconds !== undefined)
    details.push({ '@type': `${TYPE_PREFIX}RetryInfo`, retryDelay: `${retryAfterSeconds}s` })
  return details
}

const reasonOf = (code: string): string => code.toUpperCase().replace(/[^A-Z0-9]+/g, '_')
