import { AnswerIds } from '../../canonical/call-ids.ts'
import type { Part } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject, withMappedItems, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult, Finish, FinishReason, Usage } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { faultyAnswer } from '../errors/faulty-answer.ts'
import { anyNumber, anyObject, anyObjects, anyText, defined, extrasOf, WrongType, withDefined } from '../fields.ts'
import { anyCount } from '../usage/counts.ts'
import { readBlock } from './content.ts'
import { readInnerError } from './error.ts'
import { FORMAT } from './wire.ts'

/** Fields for the reason why an answer ended. */
export const STOP_FIELDS = ['stop_reason', 'stop_sequence', 'stop_details'] as const

/** Known fields of an answer and of the start of a stream. */
export const HEAD = new Set<string>([...['id', 'type', 'role', 'model', 'content', 'usage'], ...STOP_FIELDS])

/**
 * Reads a whole answer of a messages upstream (docs/wire/messages.md#response).
 *
 * @throws GatewayError for an error under status 200 (trap 77) or another kind of body.
 */
export function readResult(answer: WireAnswer, request: CanonicalRequest): CanonicalResult {
  const ids = new AnswerIds(request, FORMAT)
  const body = withMappedItems(answer.body, 'content', block => withCallId(block, ids))
  const wire = body['content'] ?? (body['type'] === 'message' ? [] : undefined)
  if (body['type'] === 'error' || (!Array.isArray(wire) && typeof wire !== 'string'))
    throw faultyAnswer(body, 'is not a message', readInnerError)
  const content = readAnswer(wire)
  const { refusal, ...stop } = readStop(
    body,
    content.some(part => part.type === 'tool-call'),
  )
  const usage = anyObject(body['usage'])
  const candidates = [{ content: refusal === undefined ? content : [...content, refusal], ...stop }]
  const { extras } = extrasOf(FORMAT, body, HEAD)
  const others = { usage: usage && readUsage(usage), serviceTier: readTier(usage), extras }
  return withWireSource(withDefined({ ...readHead(body), candidates }, others), FORMAT, body)
}

/** Reads the id and model of an answer. */
export const readHead = (wire: JsonObject) => defined({ id: anyText(wire['id']), model: anyText(wire['model']) })

/** Gives a new id to a call whose id is missing or repeated, because callers identify calls by id (trap 6). */
export function withCallId(block: JsonObject, ids: AnswerIds): JsonObject {
  const name = block['type'] === 'tool_use' ? anyText(block['name']) : undefined
  return name === undefined ? block : ids.withId(block, 'id', name)
}

/** Reads an answer's content. Some upstreams send a single text block as a string. */
const readAnswer = (wire: Json): Part[] =>
  typeof wire === 'string' ? [{ type: 'text', text: wire }] : anyObjects(wire).map(leniently)

/** Reads a block of an answer. A malformed block becomes opaque. */
export function leniently(wire: JsonObject): Part {
  try {
    return readBlock(wire)
  } catch (thrown) {
    if (thrown instanceof WrongType) return { type: 'opaque', format: FORMAT, value: wire }
    throw thrown
  }
}

/**
 * Reads the answer of `POST /v1/messages/count_tokens` (docs/wire/messages.md#token-counting). `input_tokens` includes
 * cached tokens.
 *
 * @throws GatewayError for any other body.
 */
export function readCounted({ body }: WireAnswer): CanonicalResult {
  const input = anyNumber(body['input_tokens'])
  if (input === undefined) throw faultyAnswer(body, 'is not a token count', readInnerError)
  return withWireSource({ candidates: [], usage: { input }, ...extrasOf(FORMAT, body, READ_COUNTS) }, FORMAT, body)
}

const READ_COUNTS = new Set(['input_tokens'])

const REASONS: { readonly [value: string]: FinishReason } = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  pause_turn: 'paused',
  compaction: 'paused',
  refusal: 'refused',
}

const STOP = new Set(['stop_reason', 'stop_sequence'])
/** Extras for a stop sequence without a stop reason, which has no meaning in other formats. */
const UNREAD_FIELDS = ['stop_sequence']
const STOP_REFUSED = new Set([...STOP, 'stop_details'])

/**
 * Reads the finish reason from a whole answer or from the last delta of a stream. Tool calls override the upstream's
 * reason (trap 13). The explanation of a refusal becomes a part of the answer (trap 16).
 */
export function readStop(wire: JsonObject, hasCalls: boolean): Omit<Candidate, 'content'> & { refusal?: Part } {
  const stop: { [field: string]: Json } = {}
  for (const field of STOP_FIELDS) if (wire[field] !== undefined) stop[field] = wire[field]
  const refusal = readRefusal(stop['stop_details'])
  const finish = readFinish(anyText(stop['stop_reason']), anyText(stop['stop_sequence']), hasCalls)
  const knownFields = refusal === undefined ? STOP : STOP_REFUSED
  return {
    ...defined({ finish, refusal }),
    ...extrasOf(FORMAT, stop, knownFields, finish === undefined ? UNREAD_FIELDS : undefined),
  }
}

function readFinish(
  value: string | undefined,
  stopSequence: string | undefined,
  hasCalls: boolean,
): Finish | undefined {
  if (value === undefined) return undefined
  const reason = Object.hasOwn(REASONS, value) ? REASONS[value]! : 'other'
  return { reason: reason === 'stop' && hasCalls ? 'tool-calls' : reason, raw: value, ...defined({ stopSequence }) }
}

const DETAILS = new Set(['explanation'])
const DETAILS_TYPED = new Set([...DETAILS, 'type'])

function readRefusal(details: Json | undefined): Part | undefined {
  const text = isObject(details) ? anyText(details['explanation']) : undefined
  if (!isObject(details) || text === undefined || text === '') return undefined
  const knownFields = details['type'] === 'refusal' ? DETAILS_TYPED : DETAILS
  return { type: 'refusal', text, ...extrasOf(FORMAT, details, knownFields) }
}

const COUNTS = ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'] as const

const CALLS: { readonly [field: string]: string } = {
  web_search_requests: 'web-search',
  web_fetch_requests: 'web-fetch',
}

/**
 * Reads usage. The prompt's tokens are the sum of uncached tokens, cache reads and cache writes
 * (docs/wire/messages.md#usage, trap 20).
 */
export function readUsage(wire: JsonObject): Usage {
  const cacheRead = anyCount(wire['cache_read_input_tokens'])
  const cacheWrite = anyCount(wire['cache_creation_input_tokens'])
  const uncached = anyCount(wire['input_tokens'])
  return {
    ...defined({
      input: uncached === undefined ? undefined : uncached + (cacheRead ?? 0) + (cacheWrite ?? 0),
      cacheRead,
      cacheWrite,
      output: anyCount(wire['output_tokens']),
      reasoning: anyCount(anyObject(wire['output_tokens_details'])?.['thinking_tokens']),
      hostedCalls: readCalls(wire['server_tool_use']),
    }),
    ...extrasOf(FORMAT, wire, hasOnlyCounts(wire) ? COUNTS_AND_TIER : knownFieldsOf(wire)),
  }
}

const COUNTS_AND_TIER: ReadonlySet<string> = new Set([...COUNTS, 'service_tier'])

/** Returns true if the usage has no fields other than counts and the tier. */
function hasOnlyCounts(wire: JsonObject): boolean {
  for (const field in wire)
    if (field !== 'service_tier' && (!COUNTS_AND_TIER.has(field) || anyCount(wire[field]) === undefined)) return false
  return true
}

/** Returns the fields of usage that are read. A value that is not a count becomes an extra. */
function knownFieldsOf(wire: JsonObject): ReadonlySet<string> {
  const details = wire['output_tokens_details']
  const knownFields = new Set(['service_tier'])
  for (const field of COUNTS) if (anyCount(wire[field]) !== undefined) knownFields.add(field)
  if (isObject(details) && 'thinking_tokens' in details && onlyNumbers(details, REASONING_COUNTS))
    knownFields.add('output_tokens_details')
  if (isObject(wire['server_tool_use']) && onlyNumbers(wire['server_tool_use'], CALLS))
    knownFields.add('server_tool_use')
  for (const field of OFTEN_EMPTY) if (isEmptyValue(wire[field])) knownFields.add(field)
  return knownFields
}

/** Fields that are always present but may be empty: a breakdown with only zeros, an unavailable location. */
const OFTEN_EMPTY = ['cache_creation', 'inference_geo']

const isEmptyValue = (value: Json | undefined): boolean =>
  isObject(value) ? Object.values(value).every(count => count === 0) : value === 'not_available'

const REASONING_COUNTS = { thinking_tokens: 'reasoning' }

const onlyNumbers = (wire: JsonObject, known: object): boolean =>
  Object.entries(wire).every(([key, value]) => Object.hasOwn(known, key) && anyCount(value) !== undefined)

function readCalls(wire: Json | undefined): JsonObject | undefined {
  if (!isObject(wire)) return undefined
  const calls = Object.entries(wire).filter(
    ([key, value]) => Object.hasOwn(CALLS, key) && anyCount(value) !== undefined,
  )
  return Object.fromEntries(calls.map(([key, value]) => [CALLS[key]!, value]))
}

/** Reads the tier that served the request. `standard` corresponds to the default tier of other formats. */
export function readTier(usage: JsonObject | undefined): string | undefined {
  const tier = usage?.['service_tier']
  return tier === 'standard' ? 'default' : typeof tier === 'string' ? tier : undefined
}
