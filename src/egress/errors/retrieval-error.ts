import { type CanonicalError, ERRORS } from '../../canonical/error.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { CODES, messageOf, retryAfterHeader } from './error.ts'
import { TOO_LONG } from './openai-error.ts'

/**
 * Writes an error that every retrieval client can read. `message` and `id` are Cohere's fields, `detail` is Jina's and
 * Voyage's (docs/wire/rerank.md#errors).
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
