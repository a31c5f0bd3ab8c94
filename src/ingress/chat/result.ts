import { AnswerIds } from '../../canonical/call-ids.ts'
import type { Annotation, Part } from '../../canonical/content.ts'
import { GatewayError, upstreamFailed } from '../../canonical/error.ts'
import { append } from '../../canonical/lists.ts'
import {
  isObject,
  type Json,
  type JsonObject,
  withMappedItems,
  withMappedObject,
  withWireSource,
} from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import {
  type Candidate,
  type CanonicalResult,
  type EndContent,
  endContentOf,
  type Finish,
  impliedReason,
  type TokenLogprob,
} from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { minimaxError } from '../errors/minimax-error.ts'
import { readInnerError } from '../errors/openai-error.ts'
import {
  anyNumber,
  anyObject,
  anyObjects,
  anyText,
  defined,
  extrasOf,
  extrasWithin,
  WrongType,
  withDefined,
} from '../fields.ts'
import { finishReasonOf, readHead, readStop, STOP_REASON } from '../openai-answer.ts'
import { readUsage } from '../usage/openai.ts'
import { readCall, readContent, readImages, readLegacyCall } from './content.ts'
import { type MessageReasoning, readMessageReasoning, readThinkingPart } from './reasoning.ts'
import { withSources } from './sources.ts'
import { FORMAT, isCustom } from './wire.ts'

/**
 * Reads a whole answer of a chat upstream.
 *
 * @throws GatewayError for an error under status 200 (trap 77) or another kind of body.
 */
export function readResult(answer: WireAnswer, request: CanonicalRequest): CanonicalResult {
  const failure = minimaxError(answer.body)
  if (failure !== undefined) throw new GatewayError(readInnerError(failure))
  const body = withRegularCalls(answer.body, request)
  if (!Array.isArray(body['choices']) || (body['choices'].length === 0 && isObject(body['error'])))
    throw new GatewayError(isObject(body['error']) ? readInnerError(body) : NOT_AN_ANSWER)
  const failed = anyObjects(body['choices']).find(hasFailed)
  if (failed !== undefined) throw new GatewayError(readInnerError(failed))
  const usage = anyObject(body['usage'])
  const candidates = withSources(
    anyObjects(body['choices']).map(choice => readChoice(choice, request)),
    body,
  )
  const { extras } = extrasOf(FORMAT, body, KNOWN_FIELDS)
  const result = withDefined({ ...readHead(body), candidates }, { usage: usage && readUsage(FORMAT, usage), extras })
  return withWireSource(result, FORMAT, body)
}

const NOT_AN_ANSWER = upstreamFailed("The upstream's answer is not a chat completion.")

/** Returns true if a choice has an error instead of content, as OpenRouter reports a vendor that failed. */
function hasFailed({ error, message }: JsonObject): boolean {
  if (!isObject(error)) return false
  const { content, tool_calls } = anyObject(message) ?? {}
  return (content ?? '') === '' && !isFilled(tool_calls)
}

/**
 * Gives a new id to every call whose id is missing, repeated or not a string (trap 6), because callers of all formats
 * identify calls by id. Arguments that are an object become their text, which clients parse.
 */
const withRegularCalls = (body: JsonObject, request: CanonicalRequest): JsonObject =>
  withMappedItems(body, 'choices', choice => {
    const ids = new AnswerIds(request, FORMAT)
    return withMappedObject(choice, 'message', message =>
      withMappedItems(message, 'tool_calls', call => withId(withArgumentsText(call), ids)),
    )
  })

function withId(call: JsonObject, ids: AnswerIds): JsonObject {
  const name = anyText(anyObject(call[isCustom(call) ? 'custom' : 'function'])?.['name'])
  return name === undefined ? call : ids.withId(call, 'id', name)
}

const withArgumentsText = (call: JsonObject): JsonObject =>
  withMappedObject(call, 'function', body =>
    isObject(body['arguments']) ? { ...body, arguments: JSON.stringify(body['arguments']) } : body,
  )

const KNOWN_FIELDS = new Set(['id', 'object', 'created', 'model', 'choices', 'usage', 'service_tier'])

const CHOICE = new Set(['index', 'message', 'finish_reason', 'logprobs'])
/** Known fields of a message or a delta. */
export const MESSAGE: ReadonlySet<string> = new Set(
  'role content refusal reasoning reasoning_content annotations audio images tool_calls function_call'.split(' '),
)

function readChoice(choice: JsonObject, request: CanonicalRequest): Candidate {
  const message = anyObject(choice['message']) ?? {}
  const reasoning = readMessageReasoning(message)
  const content = readMessage(message, reasoning, request)
  const logprobs = readLogprobs(anyObject(choice['logprobs'])?.['content'])
  const finish = readFinish(anyText(choice['finish_reason']), endContentOf({ content }))
  const stop = readStop(finish, choice[STOP_REASON], FORMAT, request)
  const { [STOP_REASON]: _, ...others } = choice
  const outer = stop === undefined ? choice : others
  const knownFields = logprobs === undefined ? CHOICE_WITHOUT_LOGPROBS : CHOICE
  const { extras } = extrasWithin(
    FORMAT,
    outer,
    'message',
    message,
    MESSAGE,
    knownFields,
    unreadFields(message, reasoning),
  )
  return withDefined({ content }, { finish, logprobs, extras, ...stop })
}

const CHOICE_WITHOUT_LOGPROBS = new Set(['index', 'message', 'finish_reason'])

/**
 * Returns the fields that could not be read: annotations without a text part, a second field with different reasoning,
 * and values of the wrong type.
 */
function unreadFields(message: JsonObject, reasoning: MessageReasoning): readonly string[] {
  const fields = [...reasoning.unread]
  if (typeof message['content'] !== 'string' && isFilled(message['annotations'])) fields.push('annotations')
  if (message['images'] != null && readImages(message['images']) === undefined) fields.push('images')
  for (const field in TYPES) {
    const value = message[field]
    if (value != null && !TYPES[field]!(value)) fields.push(field)
  }
  return fields
}

const isFilled = (value: Json | undefined): boolean => Array.isArray(value) && value.length > 0

const TYPES: { readonly [field: string]: (value: Json) => boolean } = {
  content: value => typeof value === 'string' || Array.isArray(value),
  refusal: value => typeof value === 'string',
  annotations: Array.isArray,
  audio: isObject,
  tool_calls: Array.isArray,
  function_call: isObject,
}

/**
 * Returns true if an object has an empty `id` or `name` and no other values than empty strings and zeros. Some
 * upstreams send every field and leave unused ones empty.
 */
export const hasOnlyEmptyValues = (value: Json | undefined): boolean =>
  isObject(value) &&
  (value['id'] === '' || value['name'] === '') &&
  Object.values(value).every(item => item === '' || item === 0)

function readMessage(message: JsonObject, reasoning: MessageReasoning, request: CanonicalRequest): Part[] {
  const parts: Part[] = [...reasoning.parts, ...readTexts(message)]
  const refusal = anyText(message['refusal'])
  if (refusal !== undefined && refusal !== '') parts.push({ type: 'refusal', text: refusal })
  const audio = anyObject(message['audio'])
  if (audio !== undefined && !hasOnlyEmptyValues(audio)) parts.push(readAudio(audio, request))
  append(parts, readImages(message['images']) ?? [])
  for (const call of anyObjects(message['tool_calls'])) append(parts, leniently(call, readCall))
  const legacy = anyObject(message['function_call'])
  if (legacy !== undefined && !hasOnlyEmptyValues(legacy))
    append(
      parts,
      leniently(legacy, call => [readLegacyCall(call)]),
    )
  return parts
}

/** Reads a part of the answer. A malformed part becomes opaque, with its wire value. */
function leniently(wire: JsonObject, read: (wire: JsonObject) => readonly Part[]): readonly Part[] {
  try {
    return read(wire)
  } catch (thrown) {
    if (thrown instanceof WrongType) return [{ type: 'opaque', format: FORMAT, value: wire }]
    throw thrown
  }
}

function readTexts(message: JsonObject): readonly Part[] {
  const content = message['content']
  if (Array.isArray(content)) return anyObjects(content).flatMap(readContentPart)
  if (typeof content !== 'string') return []
  const annotations = anyObjects(message['annotations']).map(readAnnotation)
  return [{ type: 'text', text: content, ...(annotations.length === 0 ? {} : { annotations }) }]
}

/** Reads one part of a content list: reasoning, a known type, or the `text` field of an unknown type. */
function readContentPart(wire: JsonObject): readonly Part[] {
  const reasoning = readThinkingPart(wire)
  if (reasoning !== undefined) return [reasoning]
  const parts = leniently(wire, one => readContent([one]))
  const text = anyText(wire['text'])
  if (parts[0]?.type !== 'opaque' || text === undefined) return parts
  return [{ type: 'text', text }]
}

const CITATION = new Set(['url', 'title', 'start_index', 'end_index'])
const CITATION_FIELDS = new Set(['type', 'url_citation'])

/** Reads a URL citation. Any other annotation becomes opaque. */
export function readAnnotation(wire: JsonObject): Annotation {
  const citation = anyObject(wire['url_citation'])
  const url = anyText(citation?.['url'])
  if (wire['type'] !== 'url_citation' || citation === undefined || url === undefined)
    return { type: 'opaque', format: FORMAT, value: wire }
  const title = anyText(citation['title'])
  const start = anyNumber(citation['start_index'])
  const end = anyNumber(citation['end_index'])
  return {
    type: 'citation',
    url,
    ...defined({ title, start, end }),
    ...extrasWithin(FORMAT, wire, 'url_citation', citation, CITATION, CITATION_FIELDS),
  }
}

const AUDIO = new Set(['data', 'transcript'])

function readAudio(wire: JsonObject, request: CanonicalRequest): Part {
  const mediaType = request.output.audio?.mediaType ?? 'audio/wav'
  return {
    type: 'media',
    kind: 'audio',
    source: { type: 'base64', mediaType, data: anyText(wire['data']) ?? '' },
    ...defined({ transcript: anyText(wire['transcript']) }),
    ...extrasOf(FORMAT, wire, AUDIO),
  }
}

const TOKEN = new Set(['token', 'logprob', 'bytes', 'top_logprobs'])

/** Reads the chosen tokens with their alternatives. Returns undefined if the value is not a list. */
export const readLogprobs = (wire: Json | undefined): readonly TokenLogprob[] | undefined =>
  Array.isArray(wire) ? anyObjects(wire).map(readToken) : undefined

function readToken(wire: JsonObject): TokenLogprob {
  const { bytes } = wire
  return {
    token: anyText(wire['token']) ?? '',
    logprob: anyNumber(wire['logprob']) ?? 0,
    ...defined({
      bytes: Array.isArray(bytes) ? (bytes as readonly number[]) : undefined,
      top: readLogprobs(wire['top_logprobs']),
    }),
    ...extrasOf(FORMAT, wire, TOKEN),
  }
}

/**
 * Reads the finish reason. Calls or a refusal override an upstream's `stop` (traps 13, 113), and a missing reason
 * counts as `stop`.
 */
export function readFinish(value: string | undefined, content: EndContent): Finish {
  if (value === undefined || value === '') return { reason: impliedReason(content) }
  const reason = finishReasonOf(value)
  return { reason: reason === 'stop' ? impliedReason(content) : reason, raw: value }
}
