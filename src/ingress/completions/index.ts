import { readError } from '../errors/openai-error.ts'
import type { Reader } from '../reader.ts'
import { CompletionEvents } from './events.ts'
import { BODY_FIELDS, locate, readRequest } from './request.ts'
import { readResult } from './result.ts'

/** The reader of text completions (docs/wire/completions.md). */
export const completions: Reader = {
  request: readRequest,
  fields: BODY_FIELDS,
  locate,
  result: readResult,
  events: request => new CompletionEvents(request),
  error: readError,
}
