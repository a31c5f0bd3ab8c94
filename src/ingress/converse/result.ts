import { AnswerIds } from '../../canonical/call-ids.ts'
import type { Part } from '../../canonical/content.ts'
import {
  isObject,
  type Json,
  type JsonObject,
  withMappedItems,
  withMappedObject,
  withWireSource,
} from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult, Finish, FinishReason, Usage } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { faultyAnswer } from '../errors/faulty-answer.ts'
import { anyNumber, anyObject, anyObjects, anyText, defined, extrasOf, WrongType, withDefined } from '../fields.ts'
import { anyCount, reconcileCounts } from '../usage/counts.ts'
import { readBlock } from './content.ts'
import { readException } from './error.ts'
import { FORMAT } from './wire.ts'

/** Fields that are read from an answer, and `metrics`, which describe only this connection. */
const HEAD = new Set(['output', 'stopReason', 'usage', 'metrics', 'serviceTier'])
const OUTPUT_FIELDS = new Set(['message'])
const MESSAGE = new Set(['role', 'content'])

/**
 * Reads a whole answer of a Converse upstream (docs/wire/converse.md#answer).
 *
 * @throws GatewayError for an error under status 200 (trap 77) or another kind of body.
 */
export function readResult(answer: WireAnswer, request: CanonicalRequest): CanonicalResult {
  const body = withCallIds(answer.body, request)
  const output = anyObject(body['output'])
  const message = anyObject(output?.['message'])
  if (output === undefined || message === undefined || !Array.isArray(message['content']))
    throw faultyAnswer(body, 'is not a message', one => readException(undefined, anyObject(one['error']) ?? one))
  const content = anyObjects(message['content']).map(leniently)
  const finish = readFinish(
    anyText(body['stopReason']),
    content.some(part => part.type === 'tool-call'),
  )
  const usage = anyObject(body['usage'])
  const { extras } = extrasOf(FORMAT, body, HEAD)
  const others = {
    usage: usage && readUsage(usage),
    serviceTier: readTier(body),
    extras: merged(extras, extrasOf(FORMAT, output, OUTPUT_FIELDS).extras),
  }
  const candidate = { content, ...defined({ finish }), ...extrasOf(FORMAT, message, MESSAGE) }
  return withWireSource(withDefined({ candidates: [candidate] }, others), FORMAT, body)
}

function withCallIds(body: JsonObject, request: CanonicalRequest): JsonObject {
  const ids = new AnswerIds(request, FORMAT)
  return withMappedObject(body, 'output', output =>
    withMappedObject(output, 'message', message =>
      withMappedItems(message, 'content', block => withMappedObject(block, 'toolUse', call => withCallId(call, ids))),
    ),
  )
}

/** Gives a new id to a call whose id is missing or repeated, because callers identify calls by id (trap 6). */
export function withCallId(call: JsonObject, ids: AnswerIds): JsonObject {
  const name = anyText(call['name'])
  return name === undefined ? call : ids.withId(call, 'toolUseId', name)
}

type Extras = CanonicalResult['extras']

const merged = (head: Extras, output: Extras): Extras =>
  output === undefined ? head : { [FORMAT]: { ...head?.[FORMAT], output: output[FORMAT]! } }

/** Reads a block of an answer. A malformed block becomes opaque. */
export function leniently(wire: JsonObject): Part {
  try {
    return readBlock(wire)
  } catch (thrown) {
    if (thrown instanceof WrongType) return { type: 'opaque', format: FORMAT, value: wire }
    throw thrown
  }
}

/** Reads the tier that served the request. */
export const readTier = (wire: JsonObject): string | undefined => anyText(anyObject(wire['serviceTier'])?.['type'])

const REASONS: { readonly [value: string]: FinishReason } = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  guardrail_intervened: 'refused',
  content_filtered: 'refused',
  malformed_model_output: 'error',
  malformed_tool_use: 'error',
}

/** Reads the finish reason. Tool calls override the upstream's reason (trap 13). */
export function readFinish(value: string | undefined, hasCalls: boolean): Finish | undefined {
  if (value === undefined) return undefined
  const reason = Object.hasOwn(REASONS, value) ? REASONS[value]! : 'other'
  return { reason: reason === 'stop' && hasCalls ? 'tool-calls' : reason, raw: value }
}

const COUNTS = ['inputTokens', 'outputTokens', 'totalTokens', 'cacheReadInputTokens', 'cacheWriteInputTokens'] as const

/** Fields that repeat the cache counts under older names. */
const DUPLICATE_COUNTS = ['cacheReadInputTokenCount', 'cacheWriteInputTokenCount']

/**
 * Reads usage. `inputTokens` excludes tokens read from a cache or written to it; the total includes them
 * (docs/wire/converse.md#usage, trap 20).
 */
export function readUsage(wire: JsonObject): Usage {
  const cacheRead = anyCount(wire['cacheReadInputTokens'])
  const cacheWrite = anyCount(wire['cacheWriteInputTokens'])
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0)
  const uncached = anyCount(wire['inputTokens'])
  const total = anyCount(wire['totalTokens'])
  const output = anyCount(wire['outputTokens'])
  const counts =
    total === undefined
      ? defined({ input: uncached === undefined ? undefined : uncached + cached, output })
      : reconcileCounts({ input: uncached, output, total, cached })
  const knownFields = new Set<string>(DUPLICATE_COUNTS)
  for (const field of COUNTS) if (anyCount(wire[field]) !== undefined) knownFields.add(field)
  for (const field of OFTEN_EMPTY) if (isEmpty(wire[field])) knownFields.add(field)
  return withWireSource(
    { ...counts, ...defined({ cacheRead, cacheWrite }), ...extrasOf(FORMAT, wire, knownFields) },
    FORMAT,
    wire,
  )
}

/** Fields that upstreams usually send empty. Empty ones do not become extras. */
const OFTEN_EMPTY = ['serverToolUsage', 'cacheDetails']

const isEmpty = (value: Json | undefined): boolean =>
  value !== undefined && value !== null && typeof value === 'object' && Object.keys(value).length === 0

/**
 * Reads the answer of CountTokens (docs/wire/converse.md#token-counting).
 *
 * @throws GatewayError for any other body.
 */
export function readCounted({ body }: WireAnswer): CanonicalResult {
  const input = anyNumber(body['inputTokens'])
  if (input === undefined)
    throw faultyAnswer(body, 'is not a token count', one =>
      readException(undefined, isObject(one['error']) ? one['error'] : one),
    )
  return withWireSource({ candidates: [], usage: { input }, ...extrasOf(FORMAT, body, READ_COUNTS) }, FORMAT, body)
}

const READ_COUNTS = new Set(['inputTokens'])
