import { type CanonicalError, type ErrorKind, errorKindOf } from '../../canonical/error.ts'
import { rowOf } from '../../canonical/maps.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { retryAfter } from '../../canonical/retry-after.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { classify } from '../errors/classify.ts'
import {
  readError as readGoogleError,
  readInnerError as readInnerGoogleError,
  statusOfWord,
} from '../errors/google-error.ts'
import { anyObject, anyText, defined } from '../fields.ts'

/** Error kinds by the format's codes (docs/wire/interactions.md#errors). */
const KINDS: { readonly [code: string]: ErrorKind } = {
  invalid_request: 'invalid-request',
  failed_precondition: 'invalid-request',
  out_of_range: 'invalid-request',
  parameter_unknown: 'invalid-request',
  content_blocked: 'invalid-request',
  authentication: 'unauthenticated',
  payment_required: 'out-of-credit',
  permission_denied: 'forbidden',
  not_found: 'not-found',
  model_not_found: 'not-found',
  conflict: 'conflict',
  request_too_large: 'too-large',
  rate_limit_exceeded: 'rate-limited',
  quota_exceeded: 'rate-limited',
  too_many_requests: 'rate-limited',
  cancelled: 'cancelled',
  api_error: 'upstream-failed',
  internal_error: 'upstream-failed',
  bad_gateway: 'upstream-failed',
  service_unavailable: 'overloaded',
  gateway_timeout: 'timed-out',
}

/** Codes that say more than the error kind. */
const PRECISE_CODES: ReadonlySet<string> = new Set(['model_not_found', 'content_blocked'])

/** Codes that say no more than the error kind. They are not passed on. */
const PLAIN_CODES: ReadonlySet<string> = new Set(Object.keys(KINDS).filter(code => !PRECISE_CODES.has(code)))

/** Reads an upstream's error answer. Google's front end still sends errors in the older form. */
export function readError(answer: WireAnswer): CanonicalError {
  const error = errorIn(answer.body)
  return error === undefined ? readGoogleError(answer) : describe(error, answer.status, retryAfter(answer.headers))
}

/** Reads an error inside a stream or under status 200 (traps 75, 77). */
export function readInnerError(body: JsonObject): CanonicalError {
  const error = errorIn(body)
  return error === undefined ? readInnerGoogleError(body) : describe(error, undefined, undefined)
}

/** Returns the error of a body if its code is a string. */
function errorIn(body: JsonObject): JsonObject | undefined {
  const error = anyObject(body['error'])
  return typeof error?.['code'] === 'string' ? error : undefined
}

function describe(error: JsonObject, status: number | undefined, wait: number | undefined): CanonicalError {
  const code = error['code'] as string
  const known = rowOf(KINDS, code)
  return classify({
    kind: known ?? errorKindOf(status ?? statusOfWord(code.toUpperCase()) ?? 502),
    message: anyText(error['message']) ?? 'The upstream failed.',
    ...defined({
      code: code === '' || PLAIN_CODES.has(code) ? undefined : code,
      param: anyText(error['param']),
      retryAfterSeconds: wait,
      status,
    }),
  })
}
