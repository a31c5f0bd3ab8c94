import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { ResponsesEvents } from './events.ts'
import { locate } from './input.ts'
import { readRequest } from './request.ts'
import { readCounted, readResult } from './result.ts'

/** Responses, docs/wire/responses.md. */
export const responses: Reader = {
  request: readRequest,
  locate,
  result: (answer, request) => (request.output.count === true ? readCounted(answer) : readResult(answer, request)),
  events: request => new ResponsesEvents(request),
  error: readError,
}
