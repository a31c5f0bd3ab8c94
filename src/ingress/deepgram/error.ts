import { type CanonicalError, type ErrorKind, errorKindOf } from '../../canonical/error.ts'
import { retryAfter } from '../../canonical/retry-after.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { classify } from '../errors/classify.ts'
import { retrievalMessage } from '../errors/retrieval-error.ts'
import { anyText, defined } from '../fields.ts'

/** Error kinds of codes that are more precise than the status. */
const BY_CODE: ReadonlyMap<string | undefined, ErrorKind> = new Map<string | undefined, ErrorKind>([
  ['ASR_PAYMENT_REQUIRED', 'out-of-credit'],
  ['INSUFFICIENT_PERMISSIONS', 'forbidden'],
  ['PROJECT_NOT_FOUND', 'forbidden'],
  ['TOO_MANY_REQUESTS', 'rate-limited'],
])

/**
 * Reads an error answer: `{err_code, err_msg}`, or `{category, message, details}` in newer versions. Accepts any body.
 */
export function readError({ status, body, headers }: WireAnswer): CanonicalError {
  const code = anyText(body['err_code']) ?? anyText(body['category'])
  const message = anyText(body['err_msg']) ?? retrievalMessage(body)
  return classify({
    kind: BY_CODE.get(code) ?? errorKindOf(status),
    message: message ?? `The upstream answered with status ${status}.`,
    ...defined({ code, retryAfterSeconds: retryAfter(headers) }),
    status,
  })
}
