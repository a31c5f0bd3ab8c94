import { type CanonicalError, type ErrorKind, kindOf } from '../../canonical/error.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { classified, retryAfter } from '../errors/classify.ts'
import { anyNumber, anyText, defined } from '../fields.ts'

/** What the vendor's codes mean (Kling's API, "Error Code"); the HTTP status is the same for several. */
const BY_CODE: ReadonlyMap<number | undefined, ErrorKind> = new Map<number | undefined, ErrorKind>([
  [1000, 'unauthenticated'],
  [1001, 'unauthenticated'],
  [1002, 'unauthenticated'],
  [1003, 'unauthenticated'],
  [1004, 'unauthenticated'],
  [1100, 'upstream-account'],
  [1101, 'out-of-credit'],
  [1102, 'out-of-credit'],
  [1103, 'forbidden'],
  [1200, 'invalid-request'],
  [1201, 'invalid-request'],
  [1202, 'not-found'],
  [1203, 'not-found'],
  [1300, 'invalid-request'],
  [1301, 'invalid-request'],
  [1302, 'rate-limited'],
  [1303, 'rate-limited'],
  [1304, 'upstream-account'],
  [5000, 'upstream-failed'],
  [5001, 'overloaded'],
  [5002, 'timed-out'],
])

/** Words of gateways for kinds the vendor has no code for. */
const WORDS: ReadonlyMap<Json | undefined, ErrorKind> = new Map<Json | undefined, ErrorKind>([
  ['cannot_express', 'cannot-express'],
  ['upstream_account', 'upstream-account'],
])

/** Codes of requests that a review of content stopped. */
const REVIEW: ReadonlySet<number | undefined> = new Set([1300, 1301])

/** An error answer: `{code, message, request_id}`. Total on any body. */
export function readError({ status, body, headers }: WireAnswer): CanonicalError {
  return describe(body, status, retryAfter(headers))
}

/** The error under a status of 200 (trap 77): only its code determines the kind. */
export const readInnerError = (body: JsonObject): CanonicalError => describe(body, 502, undefined)

function describe(body: JsonObject, status: number, retryAfterSeconds: number | undefined): CanonicalError {
  const number = anyNumber(body['code'])
  const known = BY_CODE.get(number)
  const code = REVIEW.has(number) ? 'content_policy_violation' : (anyText(body['code']) ?? number?.toString())
  return classified({
    kind: known ?? WORDS.get(body['code']) ?? kindOf(status),
    message: anyText(body['message']) ?? `The upstream answered with status ${status}.`,
    ...defined({ code, retryAfterSeconds }),
    status,
  })
}
