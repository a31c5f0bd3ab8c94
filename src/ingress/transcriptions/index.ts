import { readError } from '../errors/openai-error.ts'
import type { Reader } from '../reader.ts'
import { TranscriptEvents } from './events.ts'
import { BODY_FIELDS, locate, readRequest } from './request.ts'
import { readResult } from './result.ts'

/** The reader of OpenAI's transcriptions and translations of recordings (docs/wire/transcriptions.md). */
export const transcriptions: Reader = {
  request: readRequest,
  fields: BODY_FIELDS,
  locate,
  result: readResult,
  events: () => new TranscriptEvents(),
  error: readError,
  raw: true,
}
