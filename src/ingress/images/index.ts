import { readError } from '../errors/openai-error.ts'
import type { Reader } from '../reader.ts'
import { ImagesEvents } from './events.ts'
import { BODY_FIELDS, locate, readRequest } from './request.ts'
import { readResult } from './result.ts'

/** The reader of OpenAI's image generations, edits and variations (docs/wire/images.md). */
export const images: Reader = {
  request: readRequest,
  fields: BODY_FIELDS,
  locate,
  result: readResult,
  events: request => new ImagesEvents(request),
  error: readError,
}
