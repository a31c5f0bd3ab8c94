import { type CanonicalError, ERRORS, type ErrorKind } from '../../canonical/error.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { CODES, messageOf, retryAfterHeader } from '../errors/error.ts'
import { TOO_LONG } from '../errors/openai-error.ts'

/**
 * Kling's error codes (Kling's API, "Error Code"). A kind without an entry is written as the error's own code or its
 * HTTP status.
 */
const CODE_BY_KIND: { readonly [K in ErrorKind]?: number } = {
  'invalid-request': 1201,
  unauthenticated: 1002,
  'out-of-credit': 1101,
  forbidden: 1103,
  'not-found': 1203,
  'rate-limited': 1302,
  overloaded: 5001,
  'timed-out': 5002,
  'upstream-failed': 5000,
  unreachable: 5000,
  internal: 5000,
}
/** Kling's error code for content that failed review. */
const REVIEW_CODE = 1301

/** Writes an error as Kling's `{code, message, request_id}`. */
export function writeError(error: CanonicalError, requestId: string): WireAnswer {
  const { kind, code, httpStatus = ERRORS[kind].status } = error
  const isReview = kind === 'invalid-request' && code === 'content_policy_violation'
  const number = isReview ? REVIEW_CODE : CODE_BY_KIND[kind]
  return {
    status: httpStatus,
    headers: retryAfterHeader(error),
    body: {
      code: number ?? code ?? CODES[kind] ?? httpStatus,
      message: messageOf(error, TOO_LONG),
      request_id: requestId,
    },
  }
}
