import { type CanonicalError, errorKindOf } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { classify } from '../errors/classify.ts'
import { retrievalMessage } from '../errors/retrieval-error.ts'
import { anyText, defined } from '../fields.ts'

/** Reads an error in a stream or under status 200 (traps 75, 77). Only other gateways add a status to such errors. */
export function readInnerError(body: JsonObject): CanonicalError {
  const { status } = body
  return classify({
    kind: typeof status === 'number' && status >= 400 ? errorKindOf(status) : 'upstream-failed',
    message: retrievalMessage(body) ?? 'The upstream failed.',
    ...defined({ code: anyText(body['code']) }),
  })
}
