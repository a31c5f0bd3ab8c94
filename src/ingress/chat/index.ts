import { readError } from '../errors/openai-error.ts'
import { transcriptEventsOfChat, transcriptOfChat } from '../media/transcription-by-chat.ts'
import type { Reader } from '../reader.ts'
import { ChatEvents } from './events.ts'
import { locate } from './locate.ts'
import { BODY_FIELDS, readRequest, toolPaths } from './request.ts'
import { readResult } from './result.ts'

/** The reader of chat completions (docs/wire/chat.md). */
export const chat: Reader = {
  request: readRequest,
  fields: BODY_FIELDS,
  toolPaths,
  vendorCallId: /^call_.{1,35}$/,
  locate,
  result: (answer, request) => transcriptOfChat(readResult(answer, request), request),
  events: request => transcriptEventsOfChat(new ChatEvents(request), request),
  error: readError,
}
