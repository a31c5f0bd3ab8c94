import { readError } from '../errors/openai-error.ts'
import type { Reader } from '../reader.ts'
import { BODY_FIELDS, locate, readRequest } from './request.ts'
import { parseUntouched, readResult } from './result.ts'

/** The reader of OpenAI's embeddings (docs/wire/embeddings.md). */
export const embeddings: Reader = {
  request: readRequest,
  fields: BODY_FIELDS,
  locate,
  result: readResult,
  parse: parseUntouched,
  error: readError,
}
