import { type CanonicalError, type ErrorKind, errorKindOf } from '../../canonical/error.ts'
import { rowOf } from '../../canonical/maps.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import { retryAfter } from '../../canonical/retry-after.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { anyNumber, anyObjects, anyText, defined } from '../fields.ts'
import { classify, retryDelay } from './classify.ts'

/**
 * Reads an error answer of a Google upstream in any of Google's formats (docs/wire/errors.md#google-statuses).
 * Endpoints that stream a JSON array also wrap the error in a list.
 */
export const readError = ({ status, body, headers }: WireAnswer): CanonicalError =>
  describe(errorOf(body), status, retryAfter(headers))

/** Reads an error inside a stream or under status 200 (traps 75, 77). */
export function readInnerError(body: JsonObject): CanonicalError {
  const error = errorOf(body)
  const code = anyNumber(error?.['code'])
  const status = code !== undefined && code >= 400 && code < 600 ? code : statusOfWord(anyText(error?.['status']) ?? '')
  return describe(error, status ?? 502, undefined)
}

/** Returns the HTTP status of one of Google's canonical status words. */
export const statusOfWord = (word: string): number | undefined => rowOf(STATUSES, word)

/** HTTP statuses by Google's canonical status words. */
const STATUSES: { readonly [word: string]: number } = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  OUT_OF_RANGE: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ABORTED: 409,
  ALREADY_EXISTS: 409,
  RESOURCE_EXHAUSTED: 429,
  CANCELLED: 499,
  INTERNAL: 500,
  UNIMPLEMENTED: 501,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
}

/** Error kinds by the `reason` in an error's details, which is more precise than the status. */
const REASONS: { readonly [reason: string]: ErrorKind } = {
  API_KEY_INVALID: 'unauthenticated',
  API_KEY_EXPIRED: 'unauthenticated',
  ACCESS_TOKEN_EXPIRED: 'unauthenticated',
  CREDENTIALS_MISSING: 'unauthenticated',
  BILLING_DISABLED: 'out-of-credit',
  OUT_OF_CREDIT: 'out-of-credit',
  UPSTREAM_ACCOUNT: 'upstream-account',
  CANNOT_EXPRESS: 'cannot-express',
}

function describe(error: JsonObject | undefined, status: number, wait: number | undefined): CanonicalError {
  const details = anyObjects(error?.['details'])
  const reason = first(details, 'reason')
  const kind = REASONS[reason ?? ''] ?? errorKindOf(status)
  return classify({
    kind,
    message: anyText(error?.['message']) ?? `The upstream answered with status ${status}.`,
    ...defined({
      param: fieldOf(details),
      code: first(details, 'code') ?? reason,
      retryAfterSeconds: retryDelay(error) ?? wait,
    }),
    status,
  })
}

/** Finds the error object. Its position varies between vendors and proxies. */
function errorOf(body: JsonObject): JsonObject | undefined {
  const errorBody = Array.isArray(body) ? (body as readonly unknown[]).find(isObject) : body
  const error = errorBody?.['error']
  if (isObject(error)) return error
  if (typeof error === 'string') return { message: error }
  return typeof errorBody?.['message'] === 'string' ? errorBody : undefined
}

function first(details: readonly JsonObject[], field: string): string | undefined {
  for (const detail of details) {
    const metadata = detail['metadata']
    const value = field === 'code' ? (isObject(metadata) ? metadata['code'] : undefined) : detail[field]
    if (typeof value === 'string') return value
  }
  return undefined
}

/** Returns the first field named in a BadRequest detail. */
function fieldOf(details: readonly JsonObject[]): string | undefined {
  for (const detail of details)
    for (const violation of anyObjects(detail['fieldViolations']))
      if (typeof violation['field'] === 'string') return violation['field']
  return undefined
}
