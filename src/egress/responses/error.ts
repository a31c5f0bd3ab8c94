import type { CanonicalError } from '../../canonical/error.ts'
import type { WireAnswer } from '../../canonical/exchange.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { defined } from '../fields.ts'
import { type ErrorWords, statusOf, WORDS } from '../openai-error.ts'
import { waitHeader } from '../wait.ts'

/** Where the format has words of its own (FORMATS §15). */
const OWN_WORDS: ErrorWords = {
  ...WORDS,
  'not-found': ['not_found_error', 'not_found'],
  internal: ['internal_error', 'server_error'],
  'upstream-failed': ['server_error', 'server_error'],
}

/** An error before the first byte. */
export function writeError(error: CanonicalError, requestId: string): WireAnswer {
  const { message, param } = error
  const [type, code] = OWN_WORDS[error.kind]
  return {
    status: statusOf(error.kind),
    headers: { 'x-request-id': requestId, ...waitHeader(error) },
    body: { error: { message, type, param: param ?? null, code: error.code ?? code } },
  }
}

/** The error of an answer that failed (trap 75): a code is required there. */
export function failureOf(error: CanonicalError): JsonObject {
  const [type, code] = OWN_WORDS[error.kind]
  return { code: error.code ?? code ?? type, message: error.message, type, ...defined({ param: error.param }) }
}
