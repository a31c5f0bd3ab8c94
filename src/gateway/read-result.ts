import type { EmbeddingPart, Part } from '../canonical/content.ts'
import { GatewayError, upstreamFailed } from '../canonical/error.ts'
import { parseExactObject } from '../canonical/exact-numbers.ts'
import { fold } from '../canonical/fold.ts'
import { sniffMediaType } from '../canonical/media/sniff.ts'
import { type JsonObject, parseJson, parseObject } from '../canonical/node.ts'
import { peekBytes } from '../canonical/read-bytes.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import { withoutByteOrderMark } from '../canonical/text.ts'
import { drain } from '../canonical/transducer.ts'
import { isEmptyVector, vectorAs } from '../canonical/vector.ts'
import type { WireAnswer, WireEvent } from '../canonical/wire.ts'
import { type Work, workOf } from '../canonical/work.ts'
import type { Reader } from '../ingress/reader.ts'
import { eventParser } from '../ingress/transport/event-parser.ts'
import { type Answer, headerValue, withSingleValues } from '../upstreams/channel/index.ts'
import { isTextual, shapeOf } from './answer-shape.ts'
import { collectStream } from './collect-stream.ts'
import { EMPTY_BODY, MARKUP_BODY } from './failures.ts'
import { publicHeaders } from './scrub.ts'
import type { AcceptedRequest } from './send.ts'
import type { WholeAnswer } from './types.ts'

/** Maximum size of a whole answer, in bytes: a few large images in base64. */
export const MAX_ANSWER_SIZE = 128 * 1024 * 1024

/**
 * Reads an upstream's answer as one result, even if it is a stream although none was requested.
 *
 * @throws GatewayError if the answer breaks off, does not match its format, or holds only an error.
 */
export async function readResult({ attempt, prepared, answer, reader }: AcceptedRequest): Promise<WholeAnswer> {
  const { request, losses, restorer, native } = prepared
  const read = await readWireResult(answer, reader, request, { native })
  attempt.incoming.report.recordUnsent(read)
  const raw = checkedResult(read, request, native)
  return {
    result: restorer?.result(raw) ?? raw,
    losses,
    headers: native ? publicHeaders(answer.headers, attempt.target, attempt.request.model) : {},
  }
}

/**
 * Like `readResult`, but tools keep the names that were sent to the upstream.
 *
 * @param largest maximum size of the answer, in bytes.
 */
export async function readWireResult(
  answer: Answer,
  reader: Reader,
  request: CanonicalRequest,
  { native = false, largest: maxSize = MAX_ANSWER_SIZE } = {},
): Promise<CanonicalResult> {
  const head = { status: answer.status, headers: withSingleValues(answer.headers) }
  const shape = shapeOf(answer, reader, request.stream)
  if (shape === 'raw') {
    const content = await rawContent(answer, maxSize)
    const events = reader.events === undefined ? undefined : eventsIn(content)
    if (events !== undefined) return withoutBareError(fold(drain(reader.events!(request), events)), true)
    return reader.result!({ ...head, ...content }, request)
  }
  if (shape === 'events')
    return withoutBareError(fold(await collectStream(answer, reader.events!(request), maxSize)), true)
  const text = withoutByteOrderMark(await answer.text(maxSize))
  const plainText = reader.raw === true ? stringIn(text) : undefined
  if (plainText !== undefined)
    return reader.result!({ ...head, body: {}, raw: { mediaType: '', text: plainText } }, request)
  const listedEvents = reader.events === undefined ? undefined : listedEventsIn(text)
  if (listedEvents !== undefined) return withoutBareError(fold(drain(reader.events!(request), listedEvents)), true)
  const body = bodyIn(text, native ? reader.parse : undefined)
  return withoutBareError(reader.result!({ ...head, body }, request), false)
}

/**
 * Returns the string in a JSON document that is a single string. Some servers answer a request for plain text this way.
 */
function stringIn(text: string): string | undefined {
  const value = /^\s*"/.test(text) ? parseJson(text) : undefined
  return typeof value === 'string' ? value : undefined
}

/** Returns the events of a stream that is one JSON list, as Google sends without `alt=sse`. */
function listedEventsIn(text: string): readonly WireEvent[] | undefined {
  if (!/^\s*\[/.test(text)) return undefined
  const list = parseExactObject(`{"list":${text}}`)?.['list']
  return Array.isArray(list) ? list.map(item => ({ data: JSON.stringify(item) })) : undefined
}

/** Throws the error if a result holds nothing else. */
function withoutBareError(result: CanonicalResult, isStream: boolean): CanonicalResult {
  if (result.error !== undefined && (isStream || result.candidates.length === 0)) throw new GatewayError(result.error)
  return result
}

/** Media type that does not identify the kind of file. The file's first bytes decide. */
const UNKNOWN_BYTES = /^application\/octet-stream\b/i

/** Media types of XML documents, which are never a recording or a transcript. */
const XML_TYPE = /^[\w.-]+\/(?:[\w.-]+\+)?xml\b/i

/** The body of an answer that is not JSON. */
type Content = Pick<WireAnswer, 'body' | 'raw'>

/**
 * Returns the events of a stream whose content type is text. No transcript starts like an event that holds an object.
 */
function eventsIn({ raw }: Content): readonly WireEvent[] | undefined {
  if (raw === undefined || !('text' in raw) || !/^\s*(?:event:.*\r?\n)?data: ?\{/.test(raw.text)) return undefined
  const parser = eventParser()
  return [...parser.push(Buffer.from(raw.text)), ...parser.end()]
}

/**
 * Reads text, a recording, or the error object that an upstream sends in place of one (trap 77).
 *
 * @throws GatewayError `upstream-failed` for an empty recording, and for an HTML page or XML document.
 */
async function rawContent(answer: Answer, maxSize: number): Promise<Content> {
  const mediaType = headerValue(answer.headers['content-type'])
  if (answer.bodyKind === 'markup' || XML_TYPE.test(mediaType)) throw MARKUP_BODY
  if (isTextual(mediaType)) return { body: {}, raw: { mediaType, text: await answer.text(maxSize) } }
  if (answer.bodyKind === 'nothing') throw EMPTY_BODY
  const isUnknown = UNKNOWN_BYTES.test(mediaType)
  const mayBeError = answer.bodyKind === 'json'
  if (!isUnknown && !mayBeError) return { body: {}, raw: { mediaType, bytes: answer.bytes() } }
  const { head, isAll, whole } = await peekBytes(answer.bytes(), mayBeError ? MAX_ERROR_SIZE : 1)
  const body = mayBeError && isAll ? parseObject(new TextDecoder().decode(head)) : undefined
  if (body !== undefined) return { body }
  return { body: {}, raw: { mediaType: (isUnknown ? sniffMediaType(head) : undefined) ?? mediaType, bytes: whole } }
}

/**
 * Maximum size of an error that is recognised in place of a recording, in bytes. Audio samples may look like the start
 * of a JSON object.
 */
const MAX_ERROR_SIZE = 16 * 1024

function bodyIn(text: string, parse: Reader['parse'] = parseExactObject): JsonObject {
  const body = parse(text)
  if (body !== undefined) return body
  throw new GatewayError(upstreamFailed("The upstream's answer is not JSON."))
}

type Check = (result: CanonicalResult, request: CanonicalRequest, native: boolean) => boolean

/**
 * Checks that a successful answer holds what was requested. An answer without content, or with fewer parts than inputs,
 * counts as a failure of the upstream, so that another channel may answer.
 *
 * @throws GatewayError `upstream-failed` if the check fails.
 */
export function checkedResult(result: CanonicalResult, request: CanonicalRequest, native: boolean): CanonicalResult {
  const check = CHECKS[workOf(request)]
  if (check === undefined || check(result, request, native)) return result
  throw new GatewayError(upstreamFailed("The upstream's answer does not contain what was requested."))
}

const CHECKS: { readonly [W in Work]?: Check } = {
  completion: ({ candidates }) => candidates.length > 0,
  // A silent recording has an empty transcript, but the upstream still finishes the answer.
  transcription: ({ candidates }) =>
    candidates.some(({ content, finish }) => content.length > 0 || finish?.reason === 'stop'),
  embedding: (result, { messages }, native) =>
    withOnePerInput(contentOf(result), messages.length).every(part =>
      part.type === 'embedding' ? isVector(part, native) : native && isFormatSpecific(part),
    ),
  ranking: (result, { messages }) =>
    messages.length === 0 || contentOf(result).some(part => part.type === 'rank' && messages[part.index] !== undefined),
  video: ({ task }) => task !== undefined,
  image: ({ candidates }) =>
    candidates.some(
      ({ content, finish }) =>
        content.some(part => !isEmptyMedia(part)) || (finish !== undefined && finish.reason !== 'stop'),
    ),
  // An answer without any recording passes: the caller's writer reports the reason.
  speech: ({ candidates }) => !candidates.some(({ content }) => content.some(isEmptyMedia)),
}

/** Returns true if a media part has no bytes. */
const isEmptyMedia = (part: Part): boolean =>
  part.type === 'media' && part.source.type === 'base64' && part.source.data === ''

const contentOf = ({ candidates }: CanonicalResult): readonly Part[] => candidates[0]?.content ?? []

/** Returns true if a part holds vectors of a kind that only one format has, inside an object or list. */
const isFormatSpecific = (part: Part): boolean =>
  part.type === 'opaque' && Object.values(part.value).some(field => typeof field === 'object' && field !== null)

/** Returns true if a vector is valid. The numbers of a vector that is passed on unchanged are not checked. */
function isVector({ vector }: EmbeddingPart, native: boolean): boolean {
  if (native && !Array.isArray(vector)) return !isEmptyVector(vector)
  const numbers = vectorAs(vector, 'float') as readonly number[]
  return numbers.length > 0 && numbers.every(Number.isFinite)
}

/**
 * Checks that there is one answer per input. Vectors are matched to inputs only by index, so one missing vector makes
 * all matches uncertain.
 *
 * @throws GatewayError `upstream-failed` if there are more or fewer answers than inputs.
 */
export function withOnePerInput<T>(answers: readonly T[], inputs: number): readonly T[] {
  if (answers.length === inputs) return answers
  throw new GatewayError(upstreamFailed(`For ${inputs} inputs, the upstream returned ${answers.length} embeddings.`))
}
