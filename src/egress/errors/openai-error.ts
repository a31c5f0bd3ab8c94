import { type CanonicalError, ERRORS, type ErrorKind } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { messageOf, retryHeaders, type TooLongMessage } from './error.ts'

/** Wire type of each error kind, and its code if that never varies. */
export type ErrorNames = { readonly [K in ErrorKind]: readonly [type: string, code: string | null] }

/** The error names of OpenAI's formats (docs/wire/errors.md#openai-codes). */
export const ERROR_NAMES: ErrorNames = {
  'invalid-request': ['invalid_request_error', null],
  'context-too-long': ['invalid_request_error', 'context_length_exceeded'],
  unauthenticated: ['authentication_error', 'invalid_api_key'],
  'out-of-credit': ['insufficient_quota', 'insufficient_quota'],
  forbidden: ['permission_error', null],
  'not-found': ['invalid_request_error', 'not_found'],
  'method-not-allowed': ['invalid_request_error', 'method_not_allowed'],
  conflict: ['conflict_error', null],
  'too-large': ['invalid_request_error', 'request_too_large'],
  'cannot-express': ['invalid_request_error', 'cannot_express'],
  'rate-limited': ['rate_limit_error', 'rate_limit_exceeded'],
  cancelled: ['cancelled', null],
  internal: ['server_error', null],
  'upstream-failed': ['upstream_error', 'upstream_failed'],
  unreachable: ['upstream_error', 'upstream_failed'],
  'upstream-account': ['service_unavailable_error', 'upstream_account'],
  overloaded: ['service_unavailable_error', 'server_is_overloaded'],
  'timed-out': ['timeout_error', 'timed_out'],
}

/** Returns the HTTP status of an error: 429 if the credit is used up, because no OpenAI client handles 402. */
export const statusOf = ({ kind, httpStatus }: CanonicalError): number =>
  httpStatus ?? (kind === 'out-of-credit' ? 429 : ERRORS[kind].status)

/** OpenAI's message for a request that is too long, in `chat` and `responses`. Clients check the code. */
export const TOO_LONG: TooLongMessage = {
  pattern: /maximum context length is|exceeds the context window|tokens exceed the configured limit/i,
  write: (tokens, maximum) =>
    `This model's maximum context length is ${maximum} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
  else: 'Your input exceeds the context window of this model.',
}

/** Writes an error that occurs before the first byte. */
export function writeError(error: CanonicalError): WireAnswer {
  return { status: statusOf(error), headers: retryHeaders(error), body: errorBody(error) }
}

/** Returns the body of an error answer. An interrupted stream sends the same body as an event (trap 75). */
export function errorBody(error: CanonicalError): JsonObject {
  const [type, code] = ERROR_NAMES[error.kind]
  return { error: { message: messageOf(error, TOO_LONG), type, param: error.param ?? null, code: error.code ?? code } }
}
