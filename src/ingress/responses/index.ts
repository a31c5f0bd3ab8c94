import type { Reader } from '../reader.ts'
import { readCounted } from './count.ts'
import { readError } from './error.ts'
import { ResponsesEvents } from './events.ts'
import { locate } from './locate.ts'
import { readRequest } from './request.ts'
import { readResult } from './result.ts'

/** Responses, FORMATS §4. */
export const responses: Reader = {
  request: readRequest,
  locate,
  result: (answer, asked) => (asked.output.count === true ? readCounted(answer) : readResult(answer, asked)),
  events: asked => new ResponsesEvents(asked),
  error: readError,
}
