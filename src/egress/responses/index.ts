import type { Writer } from '../writer.ts'
import { writeCompacted } from './compaction.ts'
import { writeError } from './error.ts'
import { ResponsesStream } from './events.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** Responses, FORMATS §4. */
export const responses: Writer = {
  request: writeRequest,
  result: writeResult,
  events: asked => new ResponsesStream(asked),
  error: writeError,
  compacted: writeCompacted,
}
