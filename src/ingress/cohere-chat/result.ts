import { AnswerIds } from '../../canonical/call-ids.ts'
import type { Part } from '../../canonical/content.ts'
import { GatewayError, upstreamFailed } from '../../canonical/error.ts'
import { type Json, type JsonObject, withMappedItems, withMappedObject, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import {
  type CanonicalResult,
  type EndContent,
  endContentOf,
  type Finish,
  type FinishReason,
  impliedReason,
} from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { retrievalMessage } from '../errors/retrieval-error.ts'
import { anyObject, anyObjects, anyText, extrasOf, WrongType, withDefined } from '../fields.ts'
import { withCitations } from './citations.ts'
import { assistantExtras, opaqueCall, readCall, readContent, readPart, readPlan } from './content.ts'
import { readInnerError } from './error.ts'
import { readLogprobs } from './logprobs.ts'
import { readUsage } from './usage.ts'
import { FORMAT, PART_TYPES } from './wire.ts'

const HEAD = new Set(['id', 'message', 'finish_reason', 'usage', 'logprobs'])

/**
 * Reads a whole answer of a Cohere upstream (docs/wire/cohere-chat.md#answer).
 *
 * @throws GatewayError for an error under status 200 (trap 77) or another kind of body.
 */
export function readResult(answer: WireAnswer, request: CanonicalRequest): CanonicalResult {
  const body = withCallIds(answer.body, request)
  const message = anyObject(body['message'])
  if (message === undefined) throw new GatewayError(faultIn(body))
  const spoken = [...readBlocks(message['content']), ...readPlan(anyText(message['tool_plan']))]
  const { content, unplaced } = withCitations(spoken, anyObjects(message['citations']))
  const calls = anyObjects(message['tool_calls']).map(call => leniently(call, readCall, opaqueCall))
  const candidate = { content: [...content, ...calls], ...assistantExtras(message, unplaced) }
  const finish = readFinish(anyText(body['finish_reason']), endContentOf(candidate))
  const logprobs = readLogprobs(body['logprobs'])
  const usage = anyObject(body['usage'])
  const { extras } = extrasOf(FORMAT, body, HEAD)
  const others = { id: anyText(body['id']), usage: usage && readUsage(usage), extras }
  const result = withDefined({ candidates: [withDefined(candidate, { finish, logprobs })] }, others)
  return withWireSource(result, FORMAT, body)
}

const faultIn = (body: JsonObject) =>
  retrievalMessage(body) === undefined
    ? upstreamFailed("The upstream's answer is not a chat answer.")
    : readInnerError(body)

/** Gives a new id to every call whose id is missing or repeated, because callers identify calls by id (trap 6). */
function withCallIds(body: JsonObject, request: CanonicalRequest): JsonObject {
  const ids = new AnswerIds(request, FORMAT)
  return withMappedObject(body, 'message', message =>
    withMappedItems(message, 'tool_calls', call => {
      const name = anyText(anyObject(call['function'])?.['name'])
      return name === undefined ? call : ids.withId(call, 'id', name)
    }),
  )
}

const readBlocks = (wire: Json | undefined): readonly Part[] =>
  typeof wire === 'string' ? readContent(wire, 'spoken') : anyObjects(wire).map(block => leniently(block, readBlock))

/** Reads a content block of an answer. */
export const readBlock = (wire: JsonObject): Part => readPart(wire, PART_TYPES.spoken)

type ReadPart = (wire: JsonObject) => Part

const opaqueBlock: ReadPart = value => ({ type: 'opaque', format: FORMAT, value })

/** Reads a part of an answer. A malformed part becomes opaque. */
export function leniently(wire: JsonObject, read: ReadPart, opaque = opaqueBlock): Part {
  try {
    return read(wire)
  } catch (thrown) {
    if (thrown instanceof WrongType) return opaque(wire)
    throw thrown
  }
}

const REASONS: { readonly [value: string]: FinishReason } = {
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool-calls',
  ERROR: 'error',
  TIMEOUT: 'error',
}

/** Reads the finish reason. Tool calls override the upstream's `COMPLETE` (trap 13). */
export function readFinish(value: string | undefined, content: EndContent): Finish {
  if (value === undefined) return { reason: impliedReason(content) }
  const reason = Object.hasOwn(REASONS, value) ? REASONS[value]! : 'other'
  return { reason: reason === 'stop' ? impliedReason(content) : reason, raw: value }
}
