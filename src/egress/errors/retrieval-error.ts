import { type CanonicalError, ERRORS, type ErrorKind } from '../../canonical/error.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { messageOf, retryAfterHeader } from './error.ts'
import { TOO_LONG } from './openai-error.ts'

/** Codes of kinds that their status does not identify. */
const CODES: { readonly [K in ErrorKind]?: string } = {
  'context-too-long': 'context_length_exceeded',
  'cannot-express': 'cannot_express',
  'upstream-account': 'upstream_account',
}

/**
 * An error body that every retrieval client can read: `message` and `id` are Cohere's fields, `detail` is Jina's and
 * Voyage's (FORMATS §9).
 */
export function writeRetrievalError(error: CanonicalError, requestId: string): WireAnswer {
  const { kind, code = CODES[kind], httpStatus = ERRORS[kind].status } = error
  const message = messageOf(error, TOO_LONG)
  return {
    status: httpStatus,
    headers: retryAfterHeader(error),
    body: { id: requestId, message, detail: message, ...(code === undefined ? {} : { code }) },
  }
}
