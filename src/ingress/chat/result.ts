import { AnswerIds } from '../../canonical/answer-ids.ts'
import { append } from '../../canonical/append.ts'
import type { Annotation, Part } from '../../canonical/content.ts'
import { GatewayError } from '../../canonical/error.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult, TokenLogprob } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import {
  anyNumber,
  anyObject,
  anyObjects,
  anyText,
  defined,
  nested,
  rest,
  spelling,
  WrongType,
  withDefined,
} from '../fields.ts'
import { readHead } from '../openai-answer.ts'
import { readCall, readLegacyCall } from './calls.ts'
import { readContent } from './content.ts'
import { readInnerError } from './error.ts'
import { readFinish, wireValueOf } from './finish.ts'
import { readImages } from './images.ts'
import { readThinkingPart, readThoughts, type Thoughts } from './thoughts.ts'
import { readUsage } from './usage.ts'

const FORMAT = 'chat'

/** A whole answer of a chat upstream; an error under status 200 is thrown (trap 77). */
export function readResult({ body }: WireAnswer, request: CanonicalRequest): CanonicalResult {
  if (!Array.isArray(body['choices']) || (body['choices'].length === 0 && isObject(body['error'])))
    throw new GatewayError(isObject(body['error']) ? readInnerError(body) : NOT_AN_ANSWER)
  const usage = anyObject(body['usage'])
  const { object } = body
  const node = rest(
    FORMAT,
    body,
    TAKEN,
    object === 'chat.completion' ? undefined : spelling({ object: object ?? 'absent' }),
  )
  const candidates = anyObjects(body['choices']).map((choice, index) => readChoice(choice, index, request))
  return withDefined(
    { ...readHead(body), candidates },
    { usage: usage && readUsage(usage), extras: node.extras, spelling: node.spelling },
  )
}

const NOT_AN_ANSWER = {
  kind: 'upstream-failed',
  message: 'The upstream sent something that is no chat completion.',
} as const

const TAKEN = new Set(['id', 'object', 'created', 'model', 'choices', 'usage', 'service_tier'])

const CHOICE = new Set(['index', 'message', 'finish_reason', 'logprobs'])
/** The known fields of a message, and of its delta. */
export const MESSAGE: ReadonlySet<string> = new Set(
  'role content refusal reasoning reasoning_content annotations audio images tool_calls function_call'.split(' '),
)

function readChoice(choice: JsonObject, index: number, request: CanonicalRequest): Candidate {
  const message = anyObject(choice['message']) ?? {}
  const thoughts = readThoughts(message)
  const content = readMessage(message, thoughts, request)
  const logprobs = anyObject(choice['logprobs'])
  const tokens = readLogprobs(logprobs?.['content'])
  const finishReason = choice['finish_reason']
  const finish = readFinish(anyText(finishReason), content)
  const node = nested(
    FORMAT,
    choice,
    'message',
    message,
    MESSAGE,
    tokens === undefined ? CHOICE_BARE : CHOICE,
    {
      index: choice['index'] === index ? undefined : choice['index'],
      finish:
        finishReason !== wireValueOf(finish.reason)
          ? (anyText(finishReason) ?? (finishReason === undefined ? 'absent' : undefined))
          : undefined,
      content: Array.isArray(message['content']) ? 'parts' : message['content'] === undefined ? 'absent' : undefined,
      refusal: message['refusal'] === undefined ? 'absent' : message['refusal'] === '' ? 'empty' : undefined,
      annotations: Array.isArray(message['annotations']) && message['annotations'].length === 0 ? 'empty' : undefined,
      calls: Array.isArray(message['tool_calls']) && message['tool_calls'].length === 0 ? 'empty' : undefined,
      logprobs: tokens === undefined ? undefined : spellLogprobs(logprobs!),
      hollow: hollowIn(message, thoughts),
      own: true,
    },
    unread(message, thoughts),
  )
  return withDefined({ content }, { finish, logprobs: tokens, extras: node.extras, spelling: node.spelling })
}

const CHOICE_BARE = new Set(['index', 'message', 'finish_reason'])

const MAYBE_HOLLOW = ['audio', 'function_call']

/** Some upstreams send every field, the unused ones hollow: those are spelling. */
const hollowIn = (message: JsonObject, { duplicates }: Thoughts): JsonObject | undefined => {
  const fields = MAYBE_HOLLOW.filter(field => isHollow(message[field])).concat(duplicates)
  return fields.length === 0 ? undefined : Object.fromEntries(fields.map(field => [field, message[field]!]))
}

/** Fields that could not be read: annotations of a text that is not there, a second thought, fields of another type. */
function unread(message: JsonObject, thoughts: Thoughts): readonly string[] {
  const fields = [...thoughts.unread]
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

export const isHollow = (value: Json | undefined): boolean =>
  isObject(value) &&
  (value['id'] === '' || value['name'] === '') &&
  Object.values(value).every(item => item === '' || item === 0)

/** Of the two lists only the content's is canonical. */
const spellLogprobs = ({ content: _, ...others }: JsonObject): JsonObject => others

function readMessage(message: JsonObject, thoughts: Thoughts, request: CanonicalRequest): Part[] {
  const parts: Part[] = [...thoughts.parts, ...readTexts(message)]
  const refusal = anyText(message['refusal'])
  if (refusal !== undefined && refusal !== '') parts.push({ type: 'refusal', text: refusal })
  const audio = anyObject(message['audio'])
  if (audio !== undefined && !isHollow(audio)) parts.push(readAudio(audio, request))
  append(parts, readImages(message['images']) ?? [])
  const ids = new AnswerIds(request)
  for (const call of anyObjects(message['tool_calls']))
    append(
      parts,
      leniently(call, readCall).map(part => identified(part, ids)),
    )
  const legacy = anyObject(message['function_call'])
  if (legacy !== undefined && !isHollow(legacy))
    append(
      parts,
      leniently(legacy, call => [readLegacyCall(call)]),
    )
  return parts
}

/** A call with a unique id; the upstream's id is kept as spelling. */
function identified(part: Part, ids: AnswerIds): Part {
  if (part.type !== 'tool-call') return part
  const id = ids.call(part.id, part.name)
  if (id === part.id) return part
  return { ...part, id, spelling: { ...part.spelling, [FORMAT]: { ...part.spelling?.[FORMAT], said: part.id } } }
}

/** A malformed part of the answer is kept as it is. */
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

/** One part of a content list; whatever its type, reasoning is read as reasoning and text as text. */
function readContentPart(wire: JsonObject): readonly Part[] {
  const thought = readThinkingPart(wire)
  if (thought !== undefined) return [thought]
  const parts = leniently(wire, one => readContent([one]))
  const text = anyText(wire['text'])
  if (parts[0]?.type !== 'opaque' || text === undefined) return parts
  return [{ type: 'text', text, spelling: { [FORMAT]: { value: wire } } }]
}

const CITATION = new Set(['url', 'title', 'start_index', 'end_index'])
const CITED = new Set(['type', 'url_citation'])

export function readAnnotation(wire: JsonObject): Annotation {
  const cited = anyObject(wire['url_citation'])
  const url = anyText(cited?.['url'])
  if (wire['type'] !== 'url_citation' || cited === undefined || url === undefined)
    return { type: 'opaque', format: FORMAT, value: wire }
  const title = anyText(cited['title'])
  const start = anyNumber(cited['start_index'])
  const end = anyNumber(cited['end_index'])
  const bare = title === undefined || start === undefined || end === undefined ? true : undefined
  return {
    type: 'citation',
    url,
    ...defined({ title, start, end }),
    ...nested(FORMAT, wire, 'url_citation', cited, CITATION, CITED, { bare }),
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
    ...rest(FORMAT, wire, AUDIO),
  }
}

const TOKEN = new Set(['token', 'logprob', 'bytes', 'top_logprobs'])

/** The chosen tokens with their most likely alternatives; undefined where there is no such list. */
export function readLogprobs(wire: Json | undefined): readonly TokenLogprob[] | undefined {
  return Array.isArray(wire) ? anyObjects(wire).map(readToken) : undefined
}

function readToken(wire: JsonObject): TokenLogprob {
  const { bytes } = wire
  return {
    token: anyText(wire['token']) ?? '',
    logprob: anyNumber(wire['logprob']) ?? 0,
    ...defined({
      bytes: Array.isArray(bytes) ? (bytes as readonly number[]) : undefined,
      top: readLogprobs(wire['top_logprobs']),
    }),
    ...rest(FORMAT, wire, TOKEN),
  }
}
