import { errorReader } from '../errors/openai-error.ts'

/** The errors of responses, which have more codes than the other formats of their family (FORMATS §15). */
export const { readError, readInnerError } = errorReader({
  invalid_api_key: 'unauthenticated',
  model_not_found: 'not-found',
  not_found: 'not-found',
  previous_response_not_found: 'invalid-request',
  method_not_allowed: 'method-not-allowed',
  request_too_large: 'too-large',
  rate_limit_exceeded: 'rate-limited',
  slow_down: 'overloaded',
  timed_out: 'timed-out',
  vector_store_timeout: 'timed-out',
  invalid_prompt: 'invalid-request',
  context_length_exceeded: 'invalid-request',
})
