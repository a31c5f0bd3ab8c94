import { type CanonicalError, ERRORS, type ErrorKind } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { messageOf, retryHeaders, type TooLongMessage } from '../errors/error.ts'
import { defined, definedIfAny, extrasFor } from '../fields.ts'
import { FORMAT } from './context.ts'

/** The format's error type for each error kind (docs/wire/errors.md#anthropic-types). */
const TYPES: { readonly [K in ErrorKind]: string } = {
  'invalid-request': 'invalid_request_error',
  'context-too-long': 'invalid_request_error',
  unauthenticated: 'authentication_error',
  'out-of-credit': 'billing_error',
  forbidden: 'permission_error',
  'not-found': 'not_found_error',
  'method-not-allowed': 'invalid_request_error',
  conflict: 'conflict_error',
  'too-large': 'request_too_large',
  'cannot-express': 'invalid_request_error',
  'rate-limited': 'rate_limit_error',
  cancelled: 'api_error',
  internal: 'api_error',
  'upstream-failed': 'api_error',
  unreachable: 'api_error',
  'upstream-account': 'api_error',
  overloaded: 'overloaded_error',
  'timed-out': 'timeout_error',
}

/** Error codes for kinds that share a type with other kinds. */
const CODES: { readonly [K in ErrorKind]?: string } = {
  'cannot-express': 'cannot_express',
  'upstream-account': 'upstream_account',
}

/**
 * Message for a request that is too long. Claude Code compacts the conversation if a message begins like this, by the
 * difference of the two numbers if both are present.
 */
const TOO_LONG: TooLongMessage = {
  pattern: /^prompt is too long|input length and `max_tokens` exceed context limit/i,
  write: (tokens, maximum) => `prompt is too long: ${tokens} tokens > ${maximum} maximum`,
  else: 'prompt is too long:',
}

/** The HTTP status for an overloaded upstream in this format (trap 78). */
const OVERLOADED = 529

/**
 * HTTP statuses by error code. A client that gets this status and code resends the whole conversation, because threads
 * are not supported (trap 94).
 */
const STATUSES: { readonly [code: string]: number } = { thread_unsupported_request: 400 }

/**
 * Returns the HTTP status of an error. An overloaded upstream has a status specific to this format; an overloaded
 * gateway has 503.
 */
function statusOf({ kind, code, status, httpStatus }: CanonicalError): number {
  if (httpStatus !== undefined) return httpStatus
  if (code !== undefined && Object.hasOwn(STATUSES, code)) return STATUSES[code]!
  return kind === 'overloaded' && status !== undefined ? OVERLOADED : ERRORS[kind].status
}

/** Writes an error answer in this format. */
export function writeError(error: CanonicalError, requestId: string): WireAnswer {
  return {
    status: statusOf(error),
    headers: { 'request-id': requestId, ...retryHeaders(error) },
    body: { ...errorBody(error), request_id: requestId },
  }
}

/** Returns the body of an error. An interrupted stream ends with the same object as an event (trap 75). */
export function errorBody(error: CanonicalError): JsonObject {
  const { kind, code: errorCode = CODES[kind] } = error
  const otherDetails = extrasFor(error, FORMAT)['details'] as JsonObject | undefined
  const details = definedIfAny({ error_code: errorCode, ...otherDetails })
  const fields = defined({ type: TYPES[kind], message: messageOf(error, TOO_LONG), details })
  return { type: 'error', error: fields as JsonObject }
}
