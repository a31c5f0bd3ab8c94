import { type CanonicalError, ERRORS } from '../../canonical/error.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { CODES, messageOf } from '../errors/error.ts'
import { TOO_LONG } from '../errors/openai-error.ts'

/**
 * Writes an error as the last event of a stream (trap 75). The event contains the HTTP status that the error would have
 * had before the stream started.
 */
export function errorDelta(error: CanonicalError): JsonObject {
  const { kind, code = CODES[kind], httpStatus: status = ERRORS[kind].status } = error
  return {
    ...{ error: messageOf(error, TOO_LONG), finish_reason: 'ERROR', status },
    ...(code === undefined ? {} : { code }),
  }
}
