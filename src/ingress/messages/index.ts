import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { MessagesEvents } from './events.ts'
import { BODY_FIELDS, locate, readRequest } from './request.ts'
import { readCounted, readResult } from './result.ts'
import { reasoningShown } from './thinking.ts'
import { toolPaths } from './tools.ts'

/** The reader of Anthropic's messages and token counting (docs/wire/messages.md). */
export const messages: Reader = {
  request: readRequest,
  fields: BODY_FIELDS,
  locate,
  toolPaths,
  result: (answer, request) => (request.output.count === true ? readCounted(answer) : readResult(answer, request)),
  events: request => new MessagesEvents(request),
  reasoningShown,
  error: readError,
}
