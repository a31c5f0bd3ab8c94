import { type CanonicalError, type ErrorKind, errorKindOf } from '../../canonical/error.ts'
import { isObject } from '../../canonical/node.ts'
import { retryAfter } from '../../canonical/retry-after.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { classify } from '../errors/classify.ts'
import { retrievalMessage } from '../errors/retrieval-error.ts'
import { anyText, defined } from '../fields.ts'

/** Error kinds by `detail.status`, or `detail.code` in newer versions. Both are more precise than the HTTP status. */
const BY_CODE: { readonly [code: string]: ErrorKind } = {
  quota_exceeded: 'out-of-credit',
  too_many_concurrent_requests: 'rate-limited',
  system_busy: 'overloaded',
  voice_not_found: 'invalid-request',
  model_not_found: 'not-found',
}

/**
 * Reads an error answer: `{detail}` as `{status, message}`, as a string, or as a list of `{loc, msg}`. Accepts any
 * body.
 */
export function readError({ status, body, headers }: WireAnswer): CanonicalError {
  const detail = isObject(body['detail']) ? body['detail'] : undefined
  const code = anyText(detail?.['status']) ?? anyText(detail?.['code'])
  const kind = code !== undefined && Object.hasOwn(BY_CODE, code) ? BY_CODE[code]! : errorKindOf(status)
  return classify({
    kind,
    message: retrievalMessage(body) ?? `The upstream answered with status ${status}.`,
    ...defined({ param: anyText(detail?.['param']), code, retryAfterSeconds: retryAfter(headers) }),
    status,
  })
}
