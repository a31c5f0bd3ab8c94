import type { CanonicalError } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { messageOf, retryHeaders } from '../errors/error.ts'
import { ERROR_NAMES, type ErrorNames, statusOf, TOO_LONG } from '../errors/openai-error.ts'
import { defined } from '../fields.ts'

/** Error names of this format that differ from the common ones (docs/wire/errors.md#codes-of-responses). */
const FORMAT_NAMES: ErrorNames = {
  ...ERROR_NAMES,
  'not-found': ['not_found_error', 'not_found'],
  internal: ['internal_error', 'server_error'],
  'upstream-failed': ['server_error', 'server_error'],
  unreachable: ['server_error', 'server_error'],
}

/** Writes an error that occurs before the first byte of an answer. */
export function writeError(error: CanonicalError, requestId: string): WireAnswer {
  const { param } = error
  const [type, code] = FORMAT_NAMES[error.kind]
  return {
    status: statusOf(error),
    headers: { 'x-request-id': requestId, ...retryHeaders(error) },
    body: { error: { message: messageOf(error, TOO_LONG), type, param: param ?? null, code: error.code ?? code } },
  }
}

/** Returns the error inside a failed answer (trap 75). A code is required. */
export function failureOf(error: CanonicalError): JsonObject {
  const [type, code] = FORMAT_NAMES[error.kind]
  const message = messageOf(error, TOO_LONG)
  return { code: error.code ?? code ?? type, message, type, ...defined({ param: error.param }) }
}
