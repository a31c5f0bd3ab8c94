import type { Annotation, Part } from '../../src/canonical/content.ts'
import type { ErrorKind } from '../../src/canonical/error.ts'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { bodyOf } from '../../src/canonical/fold.ts'
import { isObject, type JsonObject } from '../../src/canonical/node.ts'
import type { CanonicalResult, Segment } from '../../src/canonical/result.ts'

/* Differences that the laws allow for a format, with the reasons. Everything else must be equal. */

type Look = (result: CanonicalResult) => CanonicalResult

/** A chat message has fields instead of an order, while a stream of its chunks still shows the order of arrival. */
const CHAT_FIELDS: { readonly [T in Part['type']]: number } = {
  ...{
    reasoning: 0,
    text: 1,
    opaque: 1,
    refusal: 2,
    media: 3,
    'tool-call': 5,
    'tool-result': 6,
    'search-call': 6,
    'search-result': 6,
    embedding: 6,
    rank: 6,
  },
}

/** Rank of images: after spoken audio, before calls. */
const PICTURES = 4

const inFieldOrder: Look = result => ({
  ...result,
  candidates: result.candidates.map(candidate => ({
    ...candidate,
    content: oneText(oneThought(fieldOrder(candidate.content))),
  })),
})

/** Joins all reasoning of a message, which is one field. A signature of a call belongs to the call. */
function oneThought(content: readonly Part[]): Part[] {
  const isThought = (part: Part): boolean => part.type === 'reasoning' && Object.keys(part).length === 2
  const thoughts = content.filter(isThought)
  if (thoughts.length < 2) return [...content]
  const text = thoughts.map(bodyOf).join('')
  return [{ type: 'reasoning', text }, ...content.filter(part => !isThought(part))]
}

/**
 * Joins all text parts of a message, with citation offsets from its beginning. Citations are in the order of their
 * parts, which an empty range between two parts does not show.
 */
function oneText(content: readonly Part[]): Part[] {
  const texts = content.filter(part => part.type === 'text')
  if (texts.length === 0) return [...content]
  const first = content.findIndex(part => part.type === 'text')
  let offset = 0
  const annotations = texts.flatMap(({ text, annotations }) => {
    const from = offset
    offset += text.length
    return (annotations ?? []).map(one => moved(one, from))
  })
  if (texts.length === 1 && annotations.length === 0) return [...content]
  annotations.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  const joined: Part = { ...texts[0]!, text: texts.map(part => part.text).join(''), annotations }
  return [...content.slice(0, first), joined, ...content.slice(first).filter(part => part.type !== 'text')]
}

const moved = (annotation: Annotation, by: number): Annotation =>
  annotation.type === 'opaque'
    ? annotation
    : {
        ...annotation,
        ...(annotation.start === undefined ? {} : { start: annotation.start + by }),
        ...(annotation.end === undefined ? {} : { end: annotation.end + by }),
      }

/** Moves the signature of reasoning before a call to the call. */
const signedCalls = (content: readonly Part[]): Part[] =>
  content.flatMap((part, index): Part[] => {
    if (part.type !== 'reasoning' || part.text === '' || part.redacted || content[index + 1]?.type !== 'tool-call')
      return [part]
    const { signature, ...thought } = part
    return signature?.format === 'contents' ? [thought, { type: 'reasoning', text: '', signature }] : [part]
  })

function fieldOrder(parts: readonly Part[]): Part[] {
  const content = signedCalls(parts)
  const rank = content.map((part, index) => {
    const signs =
      part.type === 'reasoning' && part.text === '' && !part.redacted && part.signature?.format === 'contents'
    if (part.type === 'media' && part.kind === 'image') return PICTURES
    return CHAT_FIELDS[signs && content[index + 1]?.type === 'tool-call' ? 'tool-call' : part.type]
  })
  return [...content.keys()].sort((a, b) => rank[a]! - rank[b]! || a - b).map(index => content[index]!)
}

/**
 * Removes facts that only one kind of speech answer has. Events state tokens, but no media types. Bytes state no
 * tokens. A file that is made while it streams cannot state its length.
 */
const onlyHeard: Look = ({ candidates }) => ({
  candidates: candidates.map(({ content, finish }) => ({
    content: content.map(part =>
      part.type === 'media' && part.source.type === 'base64'
        ? { ...part, source: { ...part.source, mediaType: 'audio/*', data: withoutLengths(part.source.data) } }
        : part,
    ),
    ...(finish === undefined ? {} : { finish }),
  })),
})

function withoutLengths(data: string): string {
  const bytes = Buffer.from(data, 'base64')
  return bytes.subarray(0, 4).toString('latin1') === 'RIFF' && bytes.length >= 44
    ? bytes.fill(0, 4, 8).fill(0, 40, 44).toString('base64')
    : data
}

/**
 * Removes the settings of images. Events state them for each image, a whole answer for all at once. The prompt belongs
 * to each image.
 */
const withoutLooks: Look = result => ({
  ...result,
  candidates: result.candidates.map(candidate => ({ ...candidate, content: candidate.content.map(promptAlone) })),
})

function promptAlone(part: Part): Part {
  if (part.type !== 'media' || part.made === undefined) return part
  const { made, ...rest } = part
  return made.prompt === undefined ? rest : { ...rest, made: { prompt: made.prompt } }
}

const FIGURES: ReadonlySet<string> = new Set([
  ...['seek', 'tokens', 'temperature', 'avg_logprob', 'compression_ratio', 'no_speech_prob'],
])

/** Removes fields that a whole transcript must state although its stream need not, and the other way round. */
const withoutFillers: Look = result => ({
  ...result,
  candidates: result.candidates.map(({ transcript, ...candidate }) => {
    if (transcript === undefined) return candidate
    const { language, duration, ...facts } = transcript
    const ends = [0, ...[...(facts.segments ?? []), ...(facts.words ?? [])].map(({ end }) => end)]
    const told = {
      ...facts,
      ...(language === undefined || language === 'und' ? {} : { language }),
      ...(duration === undefined || ends.includes(duration) ? {} : { duration }),
      ...(facts.segments === undefined ? {} : { segments: facts.segments.map(withoutFigures) }),
    }
    return Object.keys(told).length === 0 ? candidate : { ...candidate, transcript: told }
  }),
})

function withoutFigures({ extras: { transcriptions, ...others } = {}, speaker, ...segment }: Segment): Segment {
  const left = Object.entries(transcriptions ?? {}).filter(([figure]) => !FIGURES.has(figure))
  const extras = left.length === 0 ? others : { ...others, transcriptions: Object.fromEntries(left) }
  return {
    ...segment,
    ...(speaker === undefined || speaker === '' ? {} : { speaker }),
    ...(Object.keys(extras).length === 0 ? {} : { extras }),
  }
}

/** A message of Cohere's has its plan and its calls behind its content, while a stream has the order of arrival. */
const callsLast: Look = result => ({
  ...result,
  candidates: result.candidates.map(candidate => ({
    ...candidate,
    content: [0, 1, 2].flatMap(rank => candidate.content.filter(part => cohereRank(part) === rank)),
  })),
})

function cohereRank(part: Part): number {
  const { plan, call } = part.spelling?.['cohere-chat'] ?? {}
  return part.type === 'tool-call' || call === true ? 2 : plan === true ? 1 : 0
}

const LOOKS: { readonly [format: string]: Look } = {
  speech: onlyHeard,
  chat: inFieldOrder,
  'cohere-chat': callsLast,
  images: withoutLooks,
  transcriptions: withoutFillers,
}

/** Returns the exceptions for an answer that passed through streams of the format. */
export const streamLook = (format: string): Look => LOOKS[format] ?? (result => result)

/** Counts that clients of a format require, although not every upstream states them. */
const COUNTED: { readonly [format: string]: readonly string[] } = {
  embeddings: ['prompt_tokens', 'total_tokens'],
  rerank: ['total_tokens'],
}

/** Returns an answer as callers of its own format get it, with the counts of its prompt if it states any. */
export function completed(format: string, body: JsonObject): JsonObject {
  const { usage, meta } = body
  const fields = COUNTED[format]
  if (fields === undefined || !isObject(usage) || isObject(meta)) return body
  const told = [usage['prompt_tokens'], usage['total_tokens']].filter(
    (count): count is number => Number.isSafeInteger(count) && (count as number) >= 0,
  )
  if (told.length === 0) return body
  const counts = fields.filter(field => usage[field] == null).map(field => [field, Math.max(...told)])
  return { ...body, usage: { ...usage, ...Object.fromEntries(counts) } }
}

/** Streams that are not passed on unchanged, because base64 that may end within a group in each chunk is cut anew. */
const CUT_ANEW: { readonly [format: string]: (part: Part) => boolean } = {
  chat: part => part.type === 'media' && part.kind === 'audio',
}

export const isCutAnew = (format: string, events: readonly CanonicalEvent[]): boolean =>
  (format === 'chat' && hasRepeatedCall(events)) ||
  events.some(event => event.type === 'part-start' && CUT_ANEW[format]?.(event.part) === true)

/** Whether two calls share an id. The second one gets another id (trap 6). */
function hasRepeatedCall(events: readonly CanonicalEvent[]): boolean {
  const calls = events.flatMap(event =>
    event.type === 'part-start' && event.part.type === 'tool-call' ? [`${event.at.candidate} ${event.part.id}`] : [],
  )
  return new Set(calls).size < calls.length
}

/** Formats whose stream may end after a call without an end mark (trap 103). */
export const ENDS_BEHIND_CALLS: ReadonlySet<string> = new Set(['contents'])

/**
 * Error kinds that are read back as other kinds. The gateway's own failure, and an unreachable upstream, look like any
 * upstream's failure to the next gateway, and some formats have coarser words.
 */
const EVERYWHERE: { readonly [K in ErrorKind]?: ErrorKind } = {
  internal: 'upstream-failed',
  unreachable: 'upstream-failed',
}
const COARSER: { readonly [format: string]: { readonly [K in ErrorKind]?: ErrorKind } } = {}

export const readBack = (format: string, kind: ErrorKind): ErrorKind =>
  COARSER[format]?.[kind] ?? EVERYWHERE[kind] ?? kind
