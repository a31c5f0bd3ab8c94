import type { CanonicalError, ErrorKind } from '../canonical/error.ts'

/** A stream has no status that distinguishes a failure of the upstream from one of the request. */
const MAY_SAY: ReadonlySet<ErrorKind> = new Set(['not-found', 'invalid-request', 'upstream-failed'])
const CODES: ReadonlySet<string | undefined> = new Set([
  ...['previous_response_not_found', 'response_not_found', 'item_not_found', 'conversation_not_found'],
])
const PARAM = /^(?:previous_response_id|conversation)\b/
const WORDS = /previous[ _]response/i
const MODEL = /\bmodel\b/i

/**
 * Whether an upstream's error means that it cannot resolve what a request refers to: it has forgotten it, or stores nothing.
 * Codes and words are those of OpenAI, Azure, vLLM and xAI; a 404 of one that knew the endpoint and the model means nothing else.
 *
 * @param names the ids the request points at.
 */
export function isForgotten({ kind, code, param, message }: CanonicalError, names: readonly string[]): boolean {
  if (!MAY_SAY.has(kind)) return false
  if (CODES.has(code) || PARAM.test(param ?? '') || WORDS.test(message)) return true
  if (names.some(name => message.includes(name))) return true
  return kind === 'not-found' && code !== 'model_not_found' && !MODEL.test(message)
}
