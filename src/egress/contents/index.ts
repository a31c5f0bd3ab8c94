import type { ReasoningPart } from '../../canonical/content.ts'
import { Sequential } from '../../canonical/sequential.ts'
import { workOf } from '../../canonical/work.ts'
import { transcriptionByChat } from '../media/transcription-by-chat.ts'
import type { ReasoningTarget, Writer } from '../writer.ts'
import { writeCounted, writeCounting } from './count.ts'
import { writeEmbedded, writeEmbedding } from './embedding.ts'
import { writeError } from './error.ts'
import { ContentsStream } from './events.ts'
import { FORMAT } from './fields.ts'
import { writeRequest } from './request.ts'
import { writeResult } from './result.ts'

const write = transcriptionByChat(writeRequest, { times: true })

/**
 * Returns reasoning to the model that generated it, because Google's own clients send back complete turns (trap 31).
 */
const reasoningForHistory = (reasoning: ReasoningPart, { toIssuer }: ReasoningTarget): ReasoningPart | undefined =>
  toIssuer && (reasoning.signature === undefined || reasoning.signature.format === FORMAT) ? reasoning : undefined

/**
 * The writers for Google's generateContent and embedding methods (docs/wire/contents.md and docs/wire/embeddings.md).
 */
export const contents: Writer = {
  request: (request, options) => {
    const work = workOf(request)
    if (work === 'count') return writeCounting(request, options)
    return work === 'embedding' ? writeEmbedding(request, options) : write(request, options)
  },
  result: (result, request) => {
    const work = workOf(request)
    if (work === 'count') return writeCounted(result)
    return work === 'embedding' ? writeEmbedded(result, request) : writeResult(result, request)
  },
  events: () => new Sequential(new ContentsStream(), { writesUnfinished: true }),
  reasoningForHistory,
  mustFetch: (_, { fetch_urls, vertex }, __, inResult) => fetch_urls === true || (inResult && vertex !== true),
  error: writeError,
}
