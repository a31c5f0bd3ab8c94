import { type CanonicalError, ERRORS } from '../canonical/error.ts'
import type { WireAnswer } from '../canonical/exchange.ts'
import { waitHeader } from './wait.ts'

/**
 * A complaint every retrieval client finds its own field in: `message` and `id` are Cohere's, `detail` is Jina's and
 * Voyage's (FORMATS §9).
 */
export function writeComplaint(error: CanonicalError, requestId: string): WireAnswer {
  const { kind, message, code = kind === 'cannot-express' ? 'cannot_express' : undefined } = error
  return {
    status: ERRORS[kind].status,
    headers: waitHeader(error),
    body: { id: requestId, message, detail: message, ...(code === undefined ? {} : { code }) },
  }
}
