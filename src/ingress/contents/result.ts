import { CallIds } from '../../canonical/call-ids.ts'
import { GatewayError, upstreamFailed } from '../../canonical/error.ts'
import { isObject, type JsonObject, withWireSource } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { readInnerError } from '../errors/google-error.ts'
import { anyObject, anyObjects, anyText, defined, extrasOf, withDefined } from '../fields.ts'
import { readCandidate } from './candidate.ts'
import { FORMAT, inCamelCase } from './fields.ts'
import { readUsage, tierOf } from './usage.ts'

/** Fields that are read from an answer. All others become extras. */
export const ANSWER: ReadonlySet<string> = new Set([
  ...['candidates', 'promptFeedback', 'usageMetadata', 'modelVersion', 'responseId', 'createTime', 'error'],
])
const KNOWN_FIELDS = new Set(['candidates', 'usageMetadata', 'modelVersion', 'responseId', 'createTime', 'error'])

/**
 * Reads a whole generateContent answer (docs/wire/contents.md#response). A blocked prompt becomes a refused candidate
 * (trap 15).
 *
 * @throws GatewayError if the body reports an error despite status 200, or is no generateContent answer.
 */
export function readResult({ body }: WireAnswer, request: CanonicalRequest): CanonicalResult {
  const fields = inCamelCase(body, ANSWER)
  const error = fields['error'] == null ? undefined : readInnerError(fields)
  const wires = Array.isArray(fields['candidates']) ? anyObjects(fields['candidates']) : undefined
  if (error !== undefined && wires === undefined) throw new GatewayError(error)
  if (!isAnswer(fields)) throw new GatewayError(NOT_AN_ANSWER)
  const read = (wires ?? []).map(wire => readCandidate(wire, CallIds.after(request)))
  const candidates = read.length > 0 ? read : [blockedCandidate(fields)]
  const usage = anyObject(fields['usageMetadata'])
  const facts = { usage: usage && readUsage(usage), serviceTier: usage && tierOf(usage), error }
  return withWireSource(withDefined({ ...readHead(fields), candidates }, facts), FORMAT, body)
}

const NOT_AN_ANSWER = upstreamFailed("The upstream's answer is not a generateContent response.")

/** Returns true if an object has a known field of an answer. */
export function isAnswer(fields: JsonObject): boolean {
  for (const key in fields) if (ANSWER.has(key)) return true
  return false
}

type Head = Pick<CanonicalResult, 'id' | 'model' | 'createdAt' | 'extras' | 'spelling'>

/**
 * Reads id, model, time and the head's other fields. The spelling marks the answer as native to this format and records
 * the notation of its time.
 */
export function readHead(fields: JsonObject): Head {
  const time = anyText(fields['createTime'])
  const createdAt = time === undefined ? Number.NaN : Math.floor(Date.parse(time) / 1000)
  const hasTime = Number.isFinite(createdAt)
  const createTime = hasTime ? time! : fields['createTime'] === undefined ? 'absent' : undefined
  return defined({
    id: anyText(fields['responseId']),
    model: anyText(fields['modelVersion']),
    createdAt: hasTime ? createdAt : undefined,
    extras: extrasOf(FORMAT, fields, KNOWN_FIELDS, hasTime ? [] : ['createTime']).extras,
    spelling: { [FORMAT]: defined({ own: true, createTime }) as JsonObject },
  })
}

/** Creates a candidate for an answer without one: refused if the prompt was blocked, else an error. */
export function blockedCandidate(fields: JsonObject): Candidate {
  const feedback = fields['promptFeedback'] ?? fields['prompt_feedback']
  const reason = isObject(feedback) ? anyText(feedback['blockReason'] ?? feedback['block_reason']) : undefined
  const message = isObject(feedback) ? anyText(feedback['blockReasonMessage']) : undefined
  return {
    content: message === undefined ? [] : [{ type: 'refusal', text: message }],
    finish: { reason: reason === undefined ? 'error' : 'refused', ...defined({ raw: reason }) },
    spelling: { [FORMAT]: { blocked: true } },
  }
}
