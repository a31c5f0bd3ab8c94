import type { Writer } from '../writer.ts'
import { writeCounted, writeCounting } from './count.ts'
import { writeError } from './error.ts'
import { boundProofs, handsBack } from './hand-back.ts'
import { models } from './models.ts'
import { RelayedStream } from './own-stream.ts'
import { addRateLimits } from './rate-limit.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** Messages, FORMATS §6. */
export const messages: Writer = {
  request: (request, options) =>
    request.output.count === true ? writeCounting(request, options) : writeRequest(request, options),
  result: (result, request) => (request.output.count === true ? writeCounted(result) : writeResult(result, request)),
  events: request => new RelayedStream(request),
  handsBack,
  boundProofs,
  error: writeError,
  models,
  addRateLimits,
}
