import { Sequential } from '../../canonical/sequential.ts'
import type { Writer } from '../writer.ts'
import { writeCompacted } from './compaction.ts'
import { writeCounted, writeCounting } from './count.ts'
import { writeError } from './error.ts'
import { ResponsesStream } from './events.ts'
import { handsBack } from './hand-back.ts'
import { writeRefused } from './refused.ts'
import { writeRequest } from './request.ts'
import { isOwnAnswer } from './response.ts'
import { writeResult } from './result.ts'

/** Responses, FORMATS §4. */
export const responses: Writer = {
  request: (request, options) =>
    request.output.count === true ? writeCounting(request, options) : writeRequest(request, options),
  result: (result, request) => (request.output.count === true ? writeCounted(result) : writeResult(result, request)),
  events: request => new Sequential(new ResponsesStream(request), isOwnAnswer),
  handsBack,
  error: writeError,
  refused: writeRefused,
  compacted: writeCompacted,
  completionTime: true,
}
