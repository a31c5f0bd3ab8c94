import { type CanonicalError, ERRORS } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { CODES, messageOf } from '../errors/error.ts'
import { TOO_LONG } from '../errors/openai-error.ts'

/** Writes an error as the last event of a stream tells it (trap 75), with the status that it would have had before. */
export function errorDelta(error: CanonicalError): JsonObject {
  const { kind, code = CODES[kind], httpStatus: status = ERRORS[kind].status } = error
  return {
    ...{ error: messageOf(error, TOO_LONG), finish_reason: 'ERROR', status },
    ...(code === undefined ? {} : { code }),
  }
}
