import { readRetrievalError } from '../errors/retrieval-error.ts'
import type { Reader } from '../reader.ts'
import { CohereChatEvents } from './events.ts'
import { BODY_FIELDS, locate } from './locate.ts'
import { readRequest } from './request.ts'
import { readResult } from './result.ts'

/** The reader of Cohere's chat, API version 2 (docs/wire/cohere-chat.md). */
export const cohereChat: Reader = {
  request: readRequest,
  fields: BODY_FIELDS,
  locate,
  result: readResult,
  events: request => new CohereChatEvents(request),
  error: readRetrievalError,
}
