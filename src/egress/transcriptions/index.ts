import { writeError } from '../errors/openai-error.ts'
import type { Writer } from '../writer.ts'
import { TranscriptWriter } from './events.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** The writer for transcriptions and translations of recordings (docs/wire/transcriptions.md). */
export const transcriptions: Writer = {
  request: writeRequest,
  result: writeResult,
  events: () => new TranscriptWriter(),
  bytes: true,
  mustFetch: () => true,
  // Only Groq takes the address of a recording.
  mustFetchNative: true,
  error: writeError,
}
