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

/** Fields of an interaction that are read. All others become extras. */
const TAKEN = new Set([
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
  const content = readSteps(anyObjects(body['steps']), new AnswerIds(request))
  const error = readFailure(body)
  const finish = error === undefined ? readFinish(anyText(body['status']), endContentOf({ content })) : undefined
  const usage = anyObject(body['usage'])
  const candidates = error !== undefined && content.length === 0 ? [] : [withDefined({ content }, { finish })]
  const others = { usage: usage && readUsage(usage), error, extras: readExtras(body) }
  return withWireSource(withDefined({ ...readHead(body), candidates }, others), FORMAT, body)
}

/** Reads the steps of an answer. A malformed one becomes opaque, and so does one that only the caller can write. */
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

/** Gives an id to a call without one, because callers find a call by its id (trap 6). */
export function withCallId(step: JsonObject, ids: AnswerIds): JsonObject {
  const name = step['type'] === 'function_call' ? anyText(step['name']) : undefined
  if (name === undefined) return step
  const given = anyText(step['id'])
  const id = ids.call(given, name)
  return given === undefined ? { ...step, id } : step
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

/** Collects the fields of an interaction that are not read. */
export const readExtras = (wire: JsonObject): CanonicalResult['extras'] =>
  extrasOf(FORMAT, wire, TAKEN, hasFailed(wire) ? [] : ['errors']).extras

const hasFailed = ({ status }: JsonObject): boolean => status === 'failed'

/** Reads the error of an interaction that has failed, if it states one. */
export function readFailure(wire: JsonObject): CanonicalError | undefined {
  const [error] = hasFailed(wire) ? anyObjects(wire['errors']) : []
  return error && readInnerError({ error: { ...error, code: anyText(error['code']) ?? '' } })
}

/** Finish reasons by status (docs/wire/interactions.md#statuses). Other statuses are those of unfinished answers. */
const REASONS: { readonly [status: string]: FinishReason } = {
  completed: 'stop',
  requires_action: 'tool-calls',
  incomplete: 'length',
  budget_exceeded: 'length',
  requires_continuation: 'paused',
  cancelled: 'other',
  failed: 'error',
}

/** Statuses of interactions that still run. */
const RUNNING: ReadonlySet<Json | undefined> = new Set(['in_progress', 'queued', undefined])

/** Reads why an answer ended. Undefined if it has not ended. */
export function readFinish(status: string | undefined, content: EndContent): Finish | undefined {
  if (RUNNING.has(status)) return undefined
  const reason = Object.hasOwn(REASONS, status!) ? REASONS[status!]! : 'other'
  return { reason: reason === 'stop' ? impliedReason(content) : reason, raw: status! }
}
