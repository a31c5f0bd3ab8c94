import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { MessagesEvents } from './events.ts'
import { readRequest } from './request.ts'
import { readResult } from './result.ts'

/** Messages, FORMATS §6. */
export const messages: Reader = {
  request: readRequest,
  result: readResult,
  events: () => new MessagesEvents(),
  error: readError,
}
