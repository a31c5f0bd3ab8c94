import { foreignLosses, Losses, type Unwritten, type Written } from '../../canonical/loss.ts'
import { defined, type JsonObject, wireSourceOf } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { type Candidate, type CanonicalResult, endContentOf } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { extrasFor } from '../fields.ts'
import { nativeBodyOf } from '../native.ts'
import { reportTime, timeText } from '../sanitize/times.ts'
import { NO_TIMES } from '../sanitize/unwritten.ts'
import { reportFinish, writeStatus, writeSteps } from './answer.ts'
import { FORMAT, nameField } from './context.ts'
import { innerErrorFields, isImplied, isPrecise } from './error.ts'
import { writeTier } from './settings.ts'
import { writeUsage } from './usage.ts'

const NO_ANSWER: Candidate = { content: [] }

/** Writes a unary answer as an interaction (docs/wire/interactions.md#answer). */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const losses = new Losses()
  const body = nativeAnswer(result) ?? writeInteraction(result, request, losses)
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

/** Returns an answer from an upstream of this format as received, with the public id and name. */
function nativeAnswer(result: CanonicalResult): JsonObject | undefined {
  const { agent } = wireSourceOf<JsonObject>(result, FORMAT)?.wire ?? {}
  return nativeBodyOf(result, FORMAT, { id: 'id', model: agent == null ? 'model' : 'agent' })
}

function writeInteraction(result: CanonicalResult, request: CanonicalRequest, losses: Losses): JsonObject {
  losses.report(foreignLosses(result, FORMAT))
  const [candidate = NO_ANSWER] = result.candidates
  const content = endContentOf(candidate)
  const { error } = result
  report(result, request, losses)
  if (result.candidates.length === 0 && error === undefined)
    losses.insert(['candidates', 0], NO_ANSWER, 'one-answer-always')
  const path = ['candidates', 0, 'finish']
  if (error === undefined) reportFinish(candidate.finish, content, path, losses)
  else if (candidate.finish !== undefined) losses.drop(path, 'failed-instead')
  const steps = writeSteps(candidate.content, ['candidates', 0, 'content'], losses)
  if (error !== undefined && steps.length === 0 && result.candidates.length > 0)
    losses.drop(['candidates', 0], 'nothing-to-show')
  return {
    ...head(result, request),
    status: error === undefined ? writeStatus(candidate.finish, content) : 'failed',
    steps,
    ...(result.usage === undefined ? {} : { usage: writeUsage(result.usage, losses) }),
    ...late(result),
    ...(error === undefined ? {} : { errors: [innerErrorFields(error)] }),
    ...extrasFor(result, FORMAT),
  }
}

type Head = Pick<CanonicalResult, 'id' | 'model'>

const NO_ID = 'v1_0'

/** Returns the fields that identify an interaction. */
export const head = ({ id, model }: Head, request: CanonicalRequest): JsonObject => ({
  // An empty id means that nothing is stored.
  id: id || NO_ID,
  object: 'interaction',
  [nameField(request)]: model ?? request.model,
})

/** Returns the fields that an interaction only has at its end. */
export const late = ({ createdAt, serviceTier }: Pick<CanonicalResult, 'createdAt' | 'serviceTier'>): JsonObject => {
  const time = timeText(createdAt)
  return defined({ created: time, updated: time, service_tier: writeTier(serviceTier) }) as JsonObject
}

const RESULT_LOSSES: Unwritten<
  CanonicalResult,
  'id' | 'model' | 'createdAt' | 'candidates' | 'usage' | 'serviceTier' | 'complete' | 'error'
> = { task: 'no-tasks' }

function report(result: CanonicalResult, request: CanonicalRequest, losses: Losses): void {
  losses.dropFields(result, [], RESULT_LOSSES)
  reportTime(result, losses)
  if (result.id === undefined) losses.add(['id'], NO_ID, 'minted-id')
  if (result.id === '') losses.change(['id'], NO_ID, 'id-required')
  if (result.model === undefined) losses.add(['model'], request.model, 'model-required')
  if (result.serviceTier === 'standard') losses.change(['serviceTier'], 'default', 'tiers-have-one-spelling')
  const { error } = result
  reportCode(error, losses)
  losses.dropFields(error, ['error'], { status: 'no-status-of-errors', retryAfterSeconds: 'no-retry-time-in-answers' })
  for (let index = 1; index < result.candidates.length; index++) losses.drop(['candidates', index], 'one-answer-only')
  const [candidate] = result.candidates
  if (candidate === undefined) return
  losses.dropFields(candidate, ['candidates', 0], NO_TIMES)
  if (candidate.logprobs !== undefined) losses.drop(['candidates', 0, 'logprobs'], 'no-logprobs')
  if (candidate.extras?.[FORMAT] !== undefined) losses.drop(['candidates', 0, 'extras', FORMAT], 'no-equivalent-field')
}

function reportCode(error: CanonicalResult['error'], losses: Losses): void {
  if (error?.code === undefined || isPrecise(error.code)) return
  if (isImplied(error)) losses.dropRestored(['error', 'code'], 'implied-by-kind')
  else losses.drop(['error', 'code'], 'no-codes')
}
