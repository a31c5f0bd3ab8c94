import { type CanonicalError, ERRORS, type ErrorKind } from '../../canonical/error.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { CODES, messageOf, retryAfterHeader, type TooLongMessage } from '../errors/error.ts'

/** The format's code for each error kind (docs/wire/interactions.md#errors). */
const CODE_BY_KIND: { readonly [K in ErrorKind]: string } = {
  'invalid-request': 'invalid_request',
  'context-too-long': 'invalid_request',
  unauthenticated: 'authentication',
  'out-of-credit': 'payment_required',
  forbidden: 'permission_denied',
  'not-found': 'not_found',
  'method-not-allowed': 'method_not_allowed',
  conflict: 'conflict',
  'too-large': 'request_too_large',
  'cannot-express': 'failed_precondition',
  'rate-limited': 'rate_limit_exceeded',
  cancelled: 'cancelled',
  internal: 'internal_error',
  'upstream-failed': 'bad_gateway',
  unreachable: 'bad_gateway',
  'upstream-account': 'service_unavailable',
  overloaded: 'service_unavailable',
  'timed-out': 'gateway_timeout',
}

/** Google's message for a request that is too long. Agents search for it (trap 98). */
const TOO_LONG: TooLongMessage = {
  pattern: /input token count.*exceeds the maximum number of tokens allowed/i,
  write: (tokens, maximum) =>
    `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${maximum}).`,
  else: 'The input token count exceeds the maximum number of tokens allowed.',
}

/** Writes an error that occurs before the first byte of an answer. */
export const writeError = (error: CanonicalError): WireAnswer => ({
  status: error.httpStatus ?? ERRORS[error.kind].status,
  headers: retryAfterHeader(error),
  body: { error: errorFields(error) },
})

/** Codes that say more than an error's kind. Readers derive only the kind from the codes of `CODE_BY_KIND`. */
const PRECISE_CODES: ReadonlySet<string> = new Set([...Object.values(CODES), ...['model_not_found', 'content_blocked']])

/** Returns true for a code that readers pass on, and from which they derive the error's kind. */
export const isPrecise = (code: string): boolean => PRECISE_CODES.has(code)

/** Returns true if the code says no more than the error's kind. */
export const isImplied = ({ code, kind }: CanonicalError): boolean => code === CODE_BY_KIND[kind]

/**
 * Returns the fields of an error inside a stream or a failed answer. The error has no HTTP status there, so an unknown
 * code is replaced with the code of its kind.
 */
export const innerErrorFields = (error: CanonicalError): JsonObject => {
  const { code, ...plain } = error
  return errorFields(code !== undefined && isPrecise(code) ? error : plain)
}

const errorFields = (error: CanonicalError): JsonObject =>
  defined({
    message: messageOf(error, TOO_LONG),
    code: error.code ?? CODES[error.kind] ?? CODE_BY_KIND[error.kind],
    param: error.param,
  }) as JsonObject
