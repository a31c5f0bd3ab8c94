import { type CanonicalError, type ErrorKind, kindOf } from '../../canonical/error.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { anyObject, anyText, defined } from '../fields.ts'
import { classified, retryAfter } from './classify.ts'

/** An error answer of an upstream of OpenAI's family of formats (FORMATS §15); vendors wrap it in many ways, and a gateway's may be no JSON at all. */
export function readError({ status, body, headers }: WireAnswer): CanonicalError {
  const error = errorOf(body)
  const message =
    anyText(error?.['message']) ?? anyText(body['message']) ?? anyText(body['detail']) ?? anyText(body['error'])
  return describe(error, message, status, retryAfter(headers))
}

/** An error inside a stream or under status 200 (trap 77): its code is its status, or its type stands for one. */
export function readInnerError(body: JsonObject): CanonicalError {
  const error = errorOf(body)
  const code = error?.['code'] ?? error?.['status_code'] ?? error?.['status']
  const status =
    typeof code === 'number' && code >= 400 && code < 600 ? code : (BY_TYPE[anyText(error?.['type']) ?? ''] ?? 502)
  return describe(error, anyText(error?.['message']) ?? anyText(body['error']), status, undefined)
}

function describe(
  error: JsonObject | undefined,
  message: string | undefined,
  status: number,
  retryAfterSeconds: number | undefined,
): CanonicalError {
  const code = anyText(error?.['code'])
  const read: CanonicalError = {
    kind: BY_CODE.get(code) ?? kindOf(status),
    message: message ?? `The upstream answered with status ${status}.`,
    ...defined({ param: anyText(error?.['param']), code, retryAfterSeconds }),
    status,
  }
  // OpenRouter wraps the message of the upstream behind it.
  return classified(read, anyText(error?.['type']), anyText(anyObject(error?.['metadata'])?.['raw']))
}

function errorOf(body: JsonObject): JsonObject | undefined {
  const error = body['error']
  return isObject(error) ? error : undefined
}

/** Codes that are more precise than their status. */
const BY_CODE: ReadonlyMap<string | undefined, ErrorKind> = new Map<string | undefined, ErrorKind>([
  ['insufficient_quota', 'out-of-credit'],
  ['credit_balance_exhausted', 'out-of-credit'],
  ['server_is_overloaded', 'overloaded'],
])

const BY_TYPE: { readonly [type: string]: number } = {
  invalid_request_error: 400,
  image_generation_user_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  rate_limit_error: 429,
  insufficient_quota: 402,
  overloaded_error: 503,
  service_unavailable_error: 503,
  timeout_error: 504,
}
