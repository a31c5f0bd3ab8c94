import type { Part } from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import { isObject, type Json, type JsonObject, type Node, withWireSource } from '../../canonical/node.ts'
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
import { faultyAnswer } from '../errors/faulty-answer.ts'
import { anyNumber, anyObject, anyObjects, anyText, defined, extrasOf, WrongType } from '../fields.ts'
import { opaquePart, type readContent, readOutputText, readPart } from './content.ts'
import { readInnerError } from './error.ts'
import { callIdsFor, opaqueItem, readAnyItem, withCallId } from './items.ts'
import { UpstreamCalls } from './upstream-calls.ts'
import { usageOf } from './usage.ts'
import { FORMAT } from './wire.ts'

/**
 * Reads a whole answer (docs/wire/responses.md#response-object).
 *
 * @throws GatewayError for an error under status 200 (trap 77) or another kind of body.
 */
export function readResult({ body }: WireAnswer, request: CanonicalRequest): CanonicalResult {
  if (!Array.isArray(body['output'])) throw faultyAnswer(body, 'is not a response', readInnerError)
  const { parts: read, tokens } = readOutput(body['output'], new UpstreamCalls(request).read(body))
  const ids = callIdsFor(request)
  const parts = read.map(part => withCallId(part, ids))
  const finish = readFinish(body, factsOf(parts))
  const error = body['status'] === 'failed' ? anyObject(body['error']) : undefined
  const candidate = { content: parts, ...defined({ finish, logprobs: tokens.length === 0 ? undefined : tokens }) }
  return {
    ...readHead(body),
    candidates: error !== undefined && parts.length === 0 ? [] : [candidate],
    ...defined({ usage: usageOf(body, request), task: readTask(body), error: error && readInnerError(error) }),
    ...readNode(body),
  }
}

const factsOf = (parts: readonly Part[]): ContentFacts => ({
  called: parts.some(part => part.type === 'tool-call'),
  refused: parts.some(part => part.type === 'refusal'),
})

const HEAD = ['id', 'model', 'created_at', 'service_tier', 'output', 'usage'] as const

/** Fields that repeat the request or the answer's state and therefore add nothing for other formats. */
const ECHOED_FIELDS = new Set([
  ...['object', 'status', 'error', 'incomplete_details', 'completed_at', 'background', 'instructions'],
  ...['max_output_tokens', 'max_tool_calls', 'metadata', 'parallel_tool_calls', 'previous_response_id', 'prompt'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'reasoning', 'safety_identifier', 'store'],
  ...['temperature', 'text', 'tool_choice', 'tools', 'top_logprobs', 'top_p', 'truncation', 'user', 'billing'],
  ...['frequency_penalty', 'presence_penalty', 'conversation', 'context_management', 'output_text', 'access_programs'],
  ...['image', 'include', 'stream'],
])
const KNOWN_FIELDS: ReadonlySet<string> = new Set([...HEAD, ...ECHOED_FIELDS])

/** Reads id, model, time and service tier of an answer. */
export const readHead = (body: JsonObject) =>
  defined({
    id: anyText(body['id']),
    model: anyText(body['model']),
    createdAt: anyNumber(body['created_at']),
    serviceTier: anyText(body['service_tier']),
  })

/** Returns a node that records the response object for callers of the same format. Unknown fields become extras. */
export const readNode = (body: JsonObject): Node => ({
  ...extrasOf(FORMAT, body, KNOWN_FIELDS, unreadableFields(body)),
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

/** Returns the known fields with values of the wrong type, which become extras. */
const unreadableFields = (body: JsonObject): string[] =>
  Object.keys(CHECKS).filter(field => body[field] != null && !CHECKS[field]!(body[field]!))

/** Kinds of content that the finish reason depends on. */
interface ContentFacts {
  readonly called: boolean
  readonly refused: boolean
}

const INCOMPLETE: { readonly [reason: string]: FinishReason } = {
  max_output_tokens: 'length',
  content_filter: 'refused',
}

/**
 * Reads the finish reason from an answer's status (docs/wire/mapping.md#finish-reasons). Tool calls and refusals
 * override `completed` (trap 13). An incomplete answer names its reason (trap 14). Returns undefined while the answer
 * is running, or if an error ended it.
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

/** Reads the task of an unfinished answer, which callers poll by the answer's id. */
function readTask(body: JsonObject): CanonicalTask | undefined {
  const status = anyText(body['status']) ?? ''
  const isNamed = anyText(body['id']) !== undefined
  return isNamed && Object.hasOwn(STATES, status) ? { state: STATES[status]! } : undefined
}

const READ_COUNTS = new Set(['object', 'input_tokens'])

/**
 * Reads the answer of `POST /v1/responses/input_tokens`, `{object, input_tokens}`
 * (docs/wire/responses.md#token-counting).
 *
 * @throws GatewayError for any other body.
 */
export function readCounted({ body }: WireAnswer): CanonicalResult {
  const input = anyNumber(body['input_tokens'])
  if (input === undefined) throw faultyAnswer(body, 'is not a token count', readInnerError)
  const result: CanonicalResult = { candidates: [], usage: { input }, ...extrasOf(FORMAT, body, READ_COUNTS) }
  return withWireSource(result, FORMAT, body)
}

/** Reads the parts of an answer's items, and the log probabilities of all text parts as one list. */
export function readOutput(
  output: Json | undefined,
  upstreamCalls: UpstreamCalls,
): { parts: Part[]; tokens: TokenLogprob[] } {
  const tokens: TokenLogprob[] = []
  const content = contentReader(tokens)
  const parts = anyObjects(output).flatMap(item =>
    upstreamCalls.has(item) ? opaqueItem(item) : readAnyItem(item, content),
  )
  return { parts, tokens }
}

/** Creates a reader of message content that appends log probabilities to the list. */
export const contentReader =
  (tokens: TokenLogprob[]): typeof readContent =>
  wire => {
    if (typeof wire === 'string') return [{ type: 'text', text: wire }]
    if (wire == null) return []
    if (!Array.isArray(wire) || !wire.every(isObject)) throw WrongType.instance
    return wire.map(part => readAnswerPart(part, tokens))
  }

/**
 * Like `readPart`, but for answers. A part that is malformed, or that other formats' answers cannot contain, becomes
 * opaque. Every part records its wire value for callers of the same format.
 */
export function readAnswerPart(wire: JsonObject, tokens: TokenLogprob[]): Part {
  const part = readLeniently(wire, tokens)
  return part.type === 'opaque' ? part : { ...part, spelling: { [FORMAT]: { part: wire } } }
}

function readLeniently(wire: JsonObject, tokens: TokenLogprob[]): Part {
  try {
    const part = wire['type'] === 'output_text' ? readText(wire, tokens) : readPart(wire)
    return part.type === 'media' ? opaquePart(wire) : part
  } catch (thrown) {
    if (thrown instanceof WrongType) return opaquePart(wire)
    throw thrown
  }
}

const TEXT_FIELDS = new Set(['type', 'text', 'annotations'])
const LOGGED = new Set([...TEXT_FIELDS, 'logprobs'])

function readText(wire: JsonObject, tokens: TokenLogprob[]): Part {
  const logged = readTokens(wire['logprobs'])
  const part = readOutputText(wire, logged === undefined ? TEXT_FIELDS : LOGGED)
  append(tokens, logged ?? [])
  return part
}

/** Reads the chosen tokens with their alternatives. Returns undefined if the value is not a valid list. */
export function readTokens(wire: Json | undefined): TokenLogprob[] | undefined {
  if (!Array.isArray(wire) || !wire.every(isToken)) return undefined
  return wire.map(token => {
    const alternatives = token['top_logprobs']
    const top =
      Array.isArray(alternatives) && alternatives.every(isToken)
        ? alternatives.map(alternative => readToken(alternative, ALTERNATIVE))
        : undefined
    return withWireSource(
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

function readToken(wire: JsonObject, knownFields: ReadonlySet<string>): TokenLogprob {
  const { bytes } = wire
  const known = Array.isArray(bytes) && bytes.every(byte => typeof byte === 'number')
  return {
    token: anyText(wire['token'])!,
    logprob: anyNumber(wire['logprob'])!,
    ...(known && bytes.length > 0 ? { bytes } : {}),
    ...extrasOf(FORMAT, wire, knownFields, known ? [] : ['bytes']),
  }
}
