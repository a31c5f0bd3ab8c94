import type { Writer } from '../writer.ts'
import { writeError } from './error.ts'
import { MessageStream } from './events.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

/** Messages, FORMATS §6. */
export const messages: Writer = {
  request: writeRequest,
  result: writeResult,
  events: asked => new MessageStream(asked),
  error: writeError,
}
