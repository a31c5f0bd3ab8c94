import { errorReader } from '../errors/openai-error.ts'

/** Codes of faulty input images (`ResponseErrorCode`, docs/wire/errors.md#codes-of-responses). */
const IMAGE_CODES = [
  ...['invalid_image', 'invalid_image_format', 'invalid_image_url', 'invalid_image_mode', 'image_too_large'],
  ...['invalid_base64_image', 'image_too_small', 'image_parse_error', 'image_content_policy_violation'],
  ...['image_file_too_large', 'image_file_not_found', 'empty_image_file', 'unsupported_image_media_type'],
  'failed_to_download_image',
].map(code => [code, 'invalid-request'] as const)

/**
 * Readers of errors in `responses`, which has more codes than the other formats of the family
 * (docs/wire/errors.md#codes-of-responses).
 */
export const { readError, readInnerError } = errorReader(
  {
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
    ...Object.fromEntries(IMAGE_CODES),
  },
  { conflict_error: 409, requests: 429, tokens: 429, cancelled: 499 },
)
