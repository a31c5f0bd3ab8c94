import { type CanonicalError, type ErrorKind, errorKindOf } from '../../canonical/error.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { retryAfter } from '../../canonical/retry-after.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { classify } from '../errors/classify.ts'
import { anyNumber, anyText, defined } from '../fields.ts'

/** Kling's codes by error kind (Kling's API, "Error Code"). Several codes share an HTTP status. */
const CODES: { readonly [K in ErrorKind]?: readonly number[] } = {
  unauthenticated: [1000, 1001, 1002, 1003, 1004],
  'upstream-account': [1100, 1304],
  'out-of-credit': [1101, 1102],
  forbidden: [1103],
  'invalid-request': [1200, 1201, 1300, 1301],
  'not-found': [1202, 1203],
  'rate-limited': [1302, 1303],
  'upstream-failed': [5000],
  overloaded: [5001],
  'timed-out': [5002],
}
const BY_CODE: ReadonlyMap<number | undefined, ErrorKind> = new Map(
  Object.entries(CODES).flatMap(([kind, codes]) => codes.map(code => [code, kind as ErrorKind])),
)

/** Error kinds by the codes of another instance of this gateway, for kinds without a vendor code. */
const WORDS: ReadonlyMap<Json | undefined, ErrorKind> = new Map<Json | undefined, ErrorKind>([
  ['cannot_express', 'cannot-express'],
  ['upstream_account', 'upstream-account'],
])

/** Codes for requests that content review stopped. */
const REVIEW: ReadonlySet<number | undefined> = new Set([1300, 1301])

/** Reads an error answer: `{code, message, request_id}`. Accepts any body. */
export const readError = ({ status, body, headers }: WireAnswer): CanonicalError =>
  describe(body, status, retryAfter(headers))

/** Reads an error under status 200 (trap 77), where only the code determines the kind. */
export const readInnerError = (body: JsonObject): CanonicalError => describe(body, 502, undefined)

function describe(body: JsonObject, status: number, retryAfterSeconds: number | undefined): CanonicalError {
  const number = anyNumber(body['code'])
  const known = BY_CODE.get(number)
  const code = REVIEW.has(number) ? 'content_policy_violation' : (anyText(body['code']) ?? number?.toString())
  return classify({
    kind: known ?? WORDS.get(body['code']) ?? errorKindOf(status),
    message: anyText(body['message']) ?? `The upstream answered with status ${status}.`,
    ...defined({ code, retryAfterSeconds }),
    status,
  })
}
