import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { ResponsesEvents } from './events.ts'
import { readRequest } from './request.ts'
import { readResult } from './result.ts'

/** Responses, FORMATS §4. */
export const responses: Reader = {
  request: readRequest,
  result: readResult,
  events: () => new ResponsesEvents(),
  error: readError,
}
