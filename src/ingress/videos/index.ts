import { readError } from '../errors/openai-error.ts'
import type { Reader } from '../reader.ts'
import { BODY_FIELDS, locate, readRequest } from './request.ts'
import { readResult } from './result.ts'

/** The reader of OpenAI's videos (docs/wire/videos.md#openai). */
export const videos: Reader = {
  request: readRequest,
  fields: BODY_FIELDS,
  locate,
  result: readResult,
  error: readError,
}
