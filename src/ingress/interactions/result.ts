import { AnswerIds } from '../../canonical/call-ids.ts'
import type { Part } from '../../canonical/content.ts'
import type { CanonicalError } from '../../canonical/error.ts'
import { type Json, type JsonObject, withWireSource } from '../../canonical/node.ts'
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
import { faultyAnswer } from '../errors/faulty-answer.ts'
import { anyObject, anyObjects, anyText, defined, extrasOf, WrongType, withDefined } from '../fields.ts'
import { readInnerError } from './error.ts'
import { readTier } from './request.ts'
import { opaqueStep, readStep } from './steps.ts'
import { readUsage } from './usage.ts'
import { FORMAT } from './wire.ts'

/** Fields that are read from an interaction. All others become extras. */
const KNOWN_FIELDS = new Set([
  ...['id', 'object', 'status', 'model', 'agent', 'created', 'updated', 'steps', 'usage', 'service_tier', 'errors'],
])

/**
 * Reads a whole interaction (docs/wire/interactions.md#answer).
 *
 * @throws GatewayError for an error under status 200 (trap 77) or another kind of body.
 */
export function readResult({ body }: WireAnswer, request: CanonicalRequest): CanonicalResult {
  if (!Array.isArray(body['steps']) && typeof body['status'] !== 'string')
    throw faultyAnswer(body, 'is not an interaction', readInnerError)
  const content = readSteps(anyObjects(body['steps']), new AnswerIds(request, FORMAT))
  const error = readFailure(body)
  const finish = error === undefined ? readFinish(anyText(body['status']), endContentOf({ content })) : undefined
  const usage = anyObject(body['usage'])
  const candidates = error !== undefined && content.length === 0 ? [] : [withDefined({ content }, { finish })]
  const others = { usage: usage && readUsage(usage), error, extras: readExtras(body) }
  return withWireSource(withDefined({ ...readHead(body), candidates }, others), FORMAT, body)
}

/** Reads the steps of an answer. Malformed steps, and steps that only callers send, become opaque. */
export const readSteps = (wire: readonly JsonObject[], ids: AnswerIds): readonly Part[] =>
  wire.flatMap(step => readAnyStep(withCallId(step, ids)))

/** Reads a step of an answer. */
export function readAnyStep(wire: JsonObject): readonly Part[] {
  try {
    return readStep(wire)
  } catch (thrown) {
    if (thrown instanceof WrongType) return [opaqueStep(wire)]
    throw thrown
  }
}

/** Gives a new id to a call whose id is missing or repeated, because callers identify calls by id (trap 6). */
export function withCallId(step: JsonObject, ids: AnswerIds): JsonObject {
  const name = step['type'] === 'function_call' ? anyText(step['name']) : undefined
  return name === undefined ? step : ids.withId(step, 'id', name)
}

type Head = Pick<CanonicalResult, 'id' | 'model' | 'createdAt' | 'serviceTier'>

/** Reads id, model, time and service tier. The id of an answer that is not stored is empty. */
export function readHead(wire: JsonObject): Head {
  const createdAt = Math.floor(Date.parse(anyText(wire['created']) ?? '') / 1000)
  const id = anyText(wire['id'])
  return defined({
    id: id === '' ? undefined : id,
    model: anyText(wire['model']) ?? anyText(wire['agent']),
    createdAt: Number.isFinite(createdAt) ? createdAt : undefined,
    serviceTier: readTier(anyText(wire['service_tier'])),
  })
}

/** Collects the unread fields of an interaction. */
export const readExtras = (wire: JsonObject): CanonicalResult['extras'] =>
  extrasOf(FORMAT, wire, KNOWN_FIELDS, hasFailed(wire) ? [] : ['errors']).extras

const hasFailed = ({ status }: JsonObject): boolean => status === 'failed'

/** Reads the error of a failed interaction. Returns undefined if there is none. */
export function readFailure(wire: JsonObject): CanonicalError | undefined {
  const [error] = hasFailed(wire) ? anyObjects(wire['errors']) : []
  return error && readInnerError({ error: { ...error, code: anyText(error['code']) ?? '' } })
}

/**
 * Finish reasons by status (docs/wire/interactions.md#statuses). Answers with any other known status are unfinished.
 */
const REASONS: { readonly [status: string]: FinishReason } = {
  completed: 'stop',
  requires_action: 'tool-calls',
  incomplete: 'length',
  budget_exceeded: 'length',
  requires_continuation: 'paused',
  cancelled: 'other',
  failed: 'error',
}

/** Statuses of running interactions. */
const RUNNING: ReadonlySet<Json | undefined> = new Set(['in_progress', 'queued', undefined])

/** Reads the finish reason. Returns undefined if the answer has not ended. */
export function readFinish(status: string | undefined, content: EndContent): Finish | undefined {
  if (RUNNING.has(status)) return undefined
  const reason = Object.hasOwn(REASONS, status!) ? REASONS[status!]! : 'other'
  return { reason: reason === 'stop' ? impliedReason(content) : reason, raw: status! }
}
