import { transcriptEventsOfChat, transcriptOfChat } from '../media/transcription-by-chat.ts'
import type { Reader } from '../reader.ts'
import { readError } from './error.ts'
import { ChatEvents } from './events.ts'
import { readRequest } from './request.ts'
import { readResult } from './result.ts'

/** Chat completions, FORMATS §2. */
export const chat: Reader = {
  request: readRequest,
  result: (answer, asked) => transcriptOfChat(readResult(answer, asked), asked),
  events: asked => transcriptEventsOfChat(new ChatEvents(asked), asked),
  error: readError,
}
