import { readError } from '../errors/openai-error.ts'
import type { Reader } from '../reader.ts'
import { SpeechEvents } from './events.ts'
import { BODY_FIELDS, locate, readRequest } from './request.ts'
import { readResult } from './result.ts'

/** The reader of OpenAI's text to speech (docs/wire/speech.md). */
export const speech: Reader = {
  request: readRequest,
  fields: BODY_FIELDS,
  locate,
  result: readResult,
  raw: true,
  events: request => new SpeechEvents(request),
  error: readError,
}
