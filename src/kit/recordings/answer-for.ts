import { workOf } from '../../canonical/work.ts'
import type { FramingKind } from '../../egress/transport/framings.ts'
import { framingOf } from '../../formats/routes.ts'
import { bytesOf } from './body.ts'
import type { Entry } from './entry.ts'
import { isFramed } from './event-frames.ts'
import { withoutConnection } from './headers.ts'
import { withNewIds } from './new-ids.ts'
import { type ReadRequest, readRequest } from './read-request.ts'
import type { ServedAnswer } from './served-answer.ts'
import { bytesIn, translatedAnswer } from './translated-answer.ts'

/** A request for which a recording was found. */
export interface RequestedAnswer {
  /** The request as read in its format, or undefined if it belongs to no format. */
  readonly caller: ReadRequest | undefined
  /** Path and query of the request. */
  readonly url: string
  /** Suffix of the ids in an answer that also serves requests other than its own. */
  readonly idSuffix: string
}

/**
 * Returns the answer of a recording for a caller: as recorded if the format and the kind of answer match the caller's,
 * otherwise translated. A partial match is translated for the caller's request, and its ids get a new suffix. Returns
 * undefined if the caller's format cannot express the answer.
 */
export async function answerFor(
  entry: Entry,
  { caller, url, idSuffix }: RequestedAnswer,
): Promise<ServedAnswer | undefined> {
  const isExactMatch = entry.partial === undefined
  if (caller === undefined) return isExactMatch ? asRecorded(entry) : withNewIds(asRecorded(entry), idSuffix)
  const framing = framingOf(caller.route, new URLSearchParams(url.split('?', 2)[1]).get('alt'))
  if (isExactMatch && isAsRecorded(entry, caller, framing)) return asRecorded(entry)
  const translated = await translatedAnswer(entry, caller, framing)
  if (translated === undefined) return undefined
  const { status, contentType, chunks } = translated
  const { ms } = entry.answer
  const answer: ServedAnswer = {
    ...{ status, headers: { 'content-type': contentType }, ms, isComplete: entry.answer.complete },
    chunks: chunks.map(bytes => ({ ms, bytes })),
  }
  return isExactMatch || hasCountedIds(caller) ? answer : withNewIds(answer, idSuffix)
}

const asRecorded = (entry: Entry): ServedAnswer => {
  const { status, headers, ms, complete, chunks } = entry.answer
  return {
    ...{ status, headers: withoutConnection(headers), ms, isComplete: complete },
    chunks: chunks?.map(chunk => ({ ms: chunk.ms, bytes: bytesOf(chunk) })) ?? [{ ms, bytes: bytesIn(entry) }],
  }
}

/** Returns true for a transcript, whose ids number its segments. */
const hasCountedIds = ({ canonical }: ReadRequest): boolean => workOf(canonical) === 'transcription'

/** Returns true if a caller wants a stream. */
export const wantsStream = (caller: ReadRequest): boolean => caller.streams || caller.canonical.stream

const isAsRecorded = (entry: Entry, caller: ReadRequest, framing: FramingKind): boolean =>
  entry.format === caller.route.format &&
  entry.streams === wantsStream(caller) &&
  hasWantedFraming(entry, framing) &&
  hasSameErrors(entry, caller) &&
  hasSameShape(entry, caller)

/** Returns true unless the answer is an error in a format of its own, as at InvokeModel, and the caller expects another. */
const hasSameErrors = ({ answer, recording }: Entry, { route }: ReadRequest): boolean =>
  answer.status < 400 || readRequest(recording.request)?.route.errors === route.errors

/** Returns true if a transcript was recorded in the requested shape, such as subtitles. Shapes are mere spelling. */
const hasSameShape = ({ recording }: Entry, { canonical }: ReadRequest): boolean =>
  workOf(canonical) !== 'transcription' ||
  JSON.stringify(readRequest(recording.request)?.canonical.spelling) === JSON.stringify(canonical.spelling)

/** Returns true if the recorded stream has the framing that the caller wants. Whole answers have no framing. */
const hasWantedFraming = ({ answer, streams }: Entry, framing: FramingKind): boolean =>
  !streams || answer.status >= 400 || framedAs(answer.headers['content-type'] ?? '') === FRAMED[framing]

/** Media types by which the encodings of streams differ. */
const framedAs = (type: string): 'json' | 'frames' | 'events' =>
  isFramed(type) ? 'frames' : /json/i.test(type) ? 'json' : 'events'

const FRAMED: { readonly [kind in FramingKind]: ReturnType<typeof framedAs> } = {
  ...{ events: 'events', array: 'json', lines: 'json', frames: 'frames', chunks: 'frames' },
}
