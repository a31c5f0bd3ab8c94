import type { CanonicalError } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { classify } from '../errors/classify.ts'
import { retrievalMessage } from '../errors/retrieval-error.ts'
import { anyText, defined } from '../fields.ts'

/** Reads an error in a stream, or one under status 200 (traps 75, 77). It has no status of its own. */
export const readInnerError = (body: JsonObject): CanonicalError =>
  classify({
    kind: 'upstream-failed',
    message: retrievalMessage(body) ?? 'The upstream failed.',
    ...defined({ code: anyText(body['code']) }),
  })
