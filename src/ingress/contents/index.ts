import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { ContentsEvents } from './events.ts'
import { readRequest } from './request.ts'
import { readResult } from './result.ts'

/** Google's generateContent, FORMATS §7. */
export const contents: Reader = {
  request: readRequest,
  result: readResult,
  events: asked => new ContentsEvents(asked),
  error: readError,
}
