import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { ImagesEvents } from './events.ts'
import { locate } from './locate.ts'
import { readRequest } from './request.ts'
import { readResult } from './result.ts'

/** Images generated and edited, FORMATS §10. */
export const images: Reader = {
  request: readRequest,
  locate,
  result: readResult,
  events: request => new ImagesEvents(request),
  error: readError,
}
