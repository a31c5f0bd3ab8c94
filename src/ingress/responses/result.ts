import type { Part } from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import { isObject, type Json, type JsonObject, type Node, withOrigin } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import {
  type CanonicalResult,
  type Finish,
  type FinishReason,
  impliedReason,
  type TokenLogprob,
} from '../../canonical/result.ts'
import type { CanonicalTask, TaskState } from '../../canonical/task.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { noAnswer } from '../errors/faulty-answer.ts'
import { anyNumber, anyObject, anyObjects, anyText, defined, left, WrongType } from '../fields.ts'
import { type readContent, readOutputText, readPart, unknownPart } from './content.ts'
import { readInnerError } from './error.ts'
import { readAnyItem, unknownItem } from './items.ts'
import { UpstreamCalls } from './upstream-calls.ts'
import { readUsage } from './usage.ts'
import { FORMAT } from './wire.ts'

/** A whole answer (docs/wire/responses.md#response-object); an error under status 200 is thrown (trap 77). */
export function readResult({ body }: WireAnswer, request: CanonicalRequest): CanonicalResult {
  if (!Array.isArray(body['output'])) throw noAnswer(body, 'is no response', readInnerError)
  const { parts, tokens } = readOutput(body['output'], new UpstreamCalls(request).read(body))
  const finish = readFinish(body, factsOf(parts))
  const error = body['status'] === 'failed' ? anyObject(body['error']) : undefined
  const usage = anyObject(body['usage'])
  const candidate = { content: parts, ...defined({ finish, logprobs: tokens.length === 0 ? undefined : tokens }) }
  return {
    ...readHead(body),
    candidates: error !== undefined && parts.length === 0 ? [] : [candidate],
    ...defined({ usage: usage && readUsage(usage), task: readTask(body), error: error && readInnerError(error) }),
    ...readNode(body),
  }
}

const factsOf = (parts: readonly Part[]): ContentFacts => ({
  called: parts.some(part => part.type === 'tool-call'),
  refused: parts.some(part => part.type === 'refusal'),
})

const HEAD = ['id', 'model', 'created_at', 'service_tier', 'output', 'usage'] as const

/** Fields that repeat the request, and the answer's state: they hold nothing new for other formats. */
const ECHO = new Set([
  ...['object', 'status', 'error', 'incomplete_details', 'completed_at', 'background', 'instructions'],
  ...['max_output_tokens', 'max_tool_calls', 'metadata', 'parallel_tool_calls', 'previous_response_id', 'prompt'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'reasoning', 'safety_identifier', 'store'],
  ...['temperature', 'text', 'tool_choice', 'tools', 'top_logprobs', 'top_p', 'truncation', 'user', 'billing'],
  ...['frequency_penalty', 'presence_penalty', 'conversation', 'context_management', 'output_text', 'access_programs'],
  ...['image', 'include', 'stream'],
])
const TAKEN: ReadonlySet<string> = new Set([...HEAD, ...ECHO])

export const readHead = (body: JsonObject) =>
  defined({
    id: anyText(body['id']),
    model: anyText(body['model']),
    createdAt: anyNumber(body['created_at']),
    serviceTier: anyText(body['service_tier']),
  })

/** The other fields of the response object, of which unknown ones are extras; callers of the format get all of it. */
export const readNode = (body: JsonObject): Node => ({
  ...left(FORMAT, body, TAKEN, misread(body)),
  spelling: { [FORMAT]: { response: body } },
})

const isTextual = (value: Json): boolean => typeof value === 'string'
const CHECKS: { readonly [field: string]: (value: Json) => boolean } = {
  id: isTextual,
  model: isTextual,
  created_at: value => typeof value === 'number',
  service_tier: isTextual,
  usage: isObject,
}

/** Known fields of a wrong type are kept as they are. */
const misread = (body: JsonObject): string[] =>
  Object.keys(CHECKS).filter(field => body[field] != null && !CHECKS[field]!(body[field]!))

/** The parts of an answer that its finish depends on. */
interface ContentFacts {
  readonly called: boolean
  readonly refused: boolean
}

const INCOMPLETE: { readonly [reason: string]: FinishReason } = {
  max_output_tokens: 'length',
  content_filter: 'refused',
}

/**
 * How an answer ended, from its status (docs/wire/mapping.md#finish-reasons): calls and a refusal are reasons to stop
 * (trap 13), and an incomplete answer names its own (trap 14). Undefined while it is running, and where an error ended
 * it.
 */
export function readFinish(body: JsonObject, content: ContentFacts): Finish | undefined {
  const status = anyText(body['status'])
  switch (status) {
    case undefined:
    case 'completed':
      return { reason: impliedReason(content), raw: 'completed' }
    case 'incomplete': {
      const raw = anyText(anyObject(body['incomplete_details'])?.['reason']) ?? 'incomplete'
      return { reason: Object.hasOwn(INCOMPLETE, raw) ? INCOMPLETE[raw]! : 'other', raw }
    }
    case 'failed':
      return body['error'] == null ? { reason: 'error', raw: 'failed' } : undefined
    case 'queued':
    case 'in_progress':
      return undefined
    default:
      return { reason: 'other', raw: status }
  }
}

const STATES: { readonly [status: string]: TaskState } = { queued: 'queued', in_progress: 'in-progress' }

/** The task of an answer that is not finished: it is polled under its id. */
function readTask(body: JsonObject): CanonicalTask | undefined {
  const status = anyText(body['status']) ?? ''
  const isNamed = anyText(body['id']) !== undefined
  return isNamed && Object.hasOwn(STATES, status) ? { state: STATES[status]! } : undefined
}

const COUNTED = new Set(['object', 'input_tokens'])

/** `{object, input_tokens}` of `POST /v1/responses/input_tokens` (docs/wire/responses.md#token-counting). */
export function readCounted({ body }: WireAnswer): CanonicalResult {
  const input = anyNumber(body['input_tokens'])
  if (input === undefined) throw noAnswer(body, 'is no count', readInnerError)
  const result: CanonicalResult = { candidates: [], usage: { input }, ...left(FORMAT, body, COUNTED) }
  return withOrigin(result, FORMAT, body)
}

/** The parts of an answer's items, and the token logprobs of all its texts in one list. */
export function readOutput(output: Json | undefined, own: UpstreamCalls): { parts: Part[]; tokens: TokenLogprob[] } {
  const tokens: TokenLogprob[] = []
  const content = contentReader(tokens)
  const parts = anyObjects(output).flatMap(item => (own.has(item) ? unknownItem(item) : readAnyItem(item, content)))
  return { parts, tokens }
}

/** Reads the content of an answer's message; its token logprobs are added to the list. */
export const contentReader =
  (tokens: TokenLogprob[]): typeof readContent =>
  wire => {
    if (typeof wire === 'string') return [{ type: 'text', text: wire }]
    if (wire == null) return []
    if (!Array.isArray(wire) || !wire.every(isObject)) throw WrongType.instance
    return wire.map(part => readAnswerPart(part, tokens))
  }

/**
 * As `readPart`, but a malformed part, or one that has no place in other formats' answers, is kept as it is. Any part
 * has its wire value, for callers of the format.
 */
export function readAnswerPart(wire: JsonObject, tokens: TokenLogprob[]): Part {
  const part = readable(wire, tokens)
  return part.type === 'opaque' ? part : { ...part, spelling: { [FORMAT]: { part: wire } } }
}

function readable(wire: JsonObject, tokens: TokenLogprob[]): Part {
  try {
    const part = wire['type'] === 'output_text' ? readText(wire, tokens) : readPart(wire)
    return part.type === 'media' ? unknownPart(wire) : part
  } catch (thrown) {
    if (thrown instanceof WrongType) return unknownPart(wire)
    throw thrown
  }
}

const OF_TEXT = new Set(['type', 'text', 'annotations'])
const LOGGED = new Set([...OF_TEXT, 'logprobs'])

function readText(wire: JsonObject, tokens: TokenLogprob[]): Part {
  const logged = readTokens(wire['logprobs'])
  const part = readOutputText(wire, logged === undefined ? OF_TEXT : LOGGED)
  append(tokens, logged ?? [])
  return part
}

/** The chosen tokens with their most likely alternatives; undefined where there is no such list. */
export function readTokens(wire: Json | undefined): TokenLogprob[] | undefined {
  if (!Array.isArray(wire) || !wire.every(isToken)) return undefined
  return wire.map(token => {
    const alternatives = token['top_logprobs']
    const top =
      Array.isArray(alternatives) && alternatives.every(isToken)
        ? alternatives.map(alternative => readToken(alternative, ALTERNATIVE))
        : undefined
    return withOrigin(
      { ...readToken(token, top === undefined ? ALTERNATIVE : TOKEN), ...defined({ top }) },
      FORMAT,
      token,
    )
  })
}

const isToken = (wire: Json): wire is JsonObject =>
  isObject(wire) && typeof wire['token'] === 'string' && typeof wire['logprob'] === 'number'

const ALTERNATIVE = new Set(['token', 'logprob', 'bytes'])
const TOKEN = new Set([...ALTERNATIVE, 'top_logprobs'])

function readToken(wire: JsonObject, taken: ReadonlySet<string>): TokenLogprob {
  const { bytes } = wire
  const known = Array.isArray(bytes) && bytes.every(byte => typeof byte === 'number')
  return {
    token: anyText(wire['token'])!,
    logprob: anyNumber(wire['logprob'])!,
    ...(known && bytes.length > 0 ? { bytes } : {}),
    ...left(FORMAT, wire, taken, known ? [] : ['bytes']),
  }
}
