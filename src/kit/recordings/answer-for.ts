import { bytesOf } from './body.ts'
import type { Entry } from './library.ts'
import type { ReadRequest } from './read-request.ts'
import type { ServedAnswer } from './served-answer.ts'
import { bytesIn, translatedAnswer } from './translated-answer.ts'

/**
 * Returns the answer of a recording for a caller: as recorded if the format and the kind of answer are the caller's,
 * otherwise translated. Undefined if the caller's format cannot express it.
 *
 * @param url path and query of the request.
 */
export function answerFor(entry: Entry, caller: ReadRequest | undefined, url: string): ServedAnswer | undefined {
  const { answer } = entry
  if (caller === undefined || isAsRecorded(entry, caller, framingOf(caller, url)))
    return {
      ...{ status: answer.status, headers: answer.headers, ms: answer.ms, isComplete: answer.complete },
      chunks: answer.chunks?.map(chunk => ({ ms: chunk.ms, bytes: bytesOf(chunk) })) ?? [
        { ms: answer.ms, bytes: bytesIn(entry) },
      ],
    }
  const translated = translatedAnswer(entry, caller, framingOf(caller, url))
  if (translated === undefined) return undefined
  const { status, contentType, chunks } = translated
  const { ms } = answer
  return {
    ...{ status, headers: { 'content-type': contentType }, ms, isComplete: answer.complete },
    chunks: chunks.map(text => ({ ms, bytes: Buffer.from(text) })),
  }
}

/** Whether a caller wants a stream. */
export const wantsStream = (caller: ReadRequest): boolean => caller.streams || caller.canonical.stream

const framingOf = ({ streams }: ReadRequest, url: string): 'array' | 'events' =>
  streams && !/[?&]alt=sse\b/.test(url) ? 'array' : 'events'

const isAsRecorded = (entry: Entry, caller: ReadRequest, framing: 'array' | 'events'): boolean =>
  entry.format === caller.route.format && entry.streams === wantsStream(caller) && isFramed(entry, framing)

/** Whether the recorded stream is framed as the caller wants it; whole answers have no framing. */
const isFramed = ({ answer, streams }: Entry, framing: 'array' | 'events'): boolean =>
  !streams || answer.status >= 400 || /json/i.test(answer.headers['content-type'] ?? '') === (framing === 'array')
