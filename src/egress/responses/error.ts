import type { CanonicalError } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { messageOf } from '../errors/context-length.ts'
import { ERROR_NAMES, type ErrorNames, statusOf, TOO_LONG } from '../errors/openai-error.ts'
import { defined } from '../fields.ts'
import { retryHeaders } from '../transport/retry-after.ts'

/** Where the format has words of its own (FORMATS §15). */
const OWN_WORDS: ErrorNames = {
  ...ERROR_NAMES,
  'not-found': ['not_found_error', 'not_found'],
  internal: ['internal_error', 'server_error'],
  'upstream-failed': ['server_error', 'server_error'],
  unreachable: ['server_error', 'server_error'],
}

/** An error before the first byte. */
export function writeError(error: CanonicalError, requestId: string): WireAnswer {
  const { param } = error
  const [type, code] = OWN_WORDS[error.kind]
  return {
    status: statusOf(error),
    headers: { 'x-request-id': requestId, ...retryHeaders(error) },
    body: { error: { message: messageOf(error, TOO_LONG), type, param: param ?? null, code: error.code ?? code } },
  }
}

/** The error of an answer that failed (trap 75): a code is required there. */
export function failureOf(error: CanonicalError): JsonObject {
  const [type, code] = OWN_WORDS[error.kind]
  const message = messageOf(error, TOO_LONG)
  return { code: error.code ?? code ?? type, message, type, ...defined({ param: error.param }) }
}
