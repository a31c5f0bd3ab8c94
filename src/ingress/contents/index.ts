import { workOf } from '../../canonical/work.ts'
import { readError } from '../errors/google-error.ts'
import { transcriptEventsOfChat, transcriptOfChat } from '../media/transcription-by-chat.ts'
import type { Reader } from '../reader.ts'
import { readCounted } from './count.ts'
import { embeds, readEmbedded, readEmbedding } from './embedding.ts'
import { ContentsEvents } from './events.ts'
import { reasoningShown } from './generation.ts'
import { BODY_FIELDS, locate, root, toolPaths } from './locate.ts'
import { readRequest } from './request.ts'
import { readResult } from './result.ts'

/**
 * The reader of Google's generateContent, countTokens and embedding methods (docs/wire/contents.md,
 * docs/wire/embeddings.md).
 */
export const contents: Reader = {
  request: wire => (embeds(wire.path) ? readEmbedding(wire) : readRequest(wire)),
  fields: BODY_FIELDS,
  toolPaths,
  root,
  locate,
  result: (answer, request) => {
    const work = workOf(request)
    if (work === 'count') return readCounted(answer)
    return work === 'embedding' ? readEmbedded(answer) : transcriptOfChat(readResult(answer, request), request)
  },
  events: request => transcriptEventsOfChat(new ContentsEvents(request), request),
  mayOmitCallIds: true,
  reasoningShown,
  error: readError,
}
