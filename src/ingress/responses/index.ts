import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { ResponsesEvents } from './events.ts'
import { locate } from './input.ts'
import { BODY_FIELDS, readRequest } from './request.ts'
import { readCounted, readResult } from './result.ts'
import { toolPaths } from './tools.ts'

/** The reader of OpenAI's responses and their token counting (docs/wire/responses.md). */
export const responses: Reader = {
  request: readRequest,
  fields: BODY_FIELDS,
  toolPaths,
  vendorCallId: /^call_/,
  locate,
  result: (answer, request) => (request.output.count === true ? readCounted(answer) : readResult(answer, request)),
  events: request => new ResponsesEvents(request),
  error: readError,
}
