import type { Writer } from '../writer.ts'
import { writeError } from './error.ts'
import { TranscriptWriter } from './events.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** Transcriptions and translations of recordings, FORMATS §12. */
export const transcriptions: Writer = {
  request: writeRequest,
  result: writeResult,
  events: request => new TranscriptWriter(request),
  bytes: true,
  fetches: () => true,
  error: writeError,
}
