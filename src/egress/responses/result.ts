import { foreignLosses, Losses, type Unwritten, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { extrasFor } from '../fields.ts'
import { nativeBodyOf } from '../native.ts'
import { countedTokens } from '../usage/input-usage.ts'
import { type EndContent, endContentOf, FAILED, reportFinish, writeItems, writeState } from './answer.ts'
import { reportHead, writeCompactionResult } from './compaction.ts'
import { FORMAT } from './content.ts'
import { itemWithDefaults } from './defaults.ts'
import { originalItems } from './items.ts'
import { isCompactEndpoint, Responder } from './response.ts'
import { writeUsage } from './usage.ts'

const NO_CANDIDATE: Candidate = { content: [] }

/**
 * Writes a unary answer as a response object, which repeats the request's settings
 * (docs/wire/responses.md#response-object).
 */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  if (request.output.count === true) return writeCounted(result)
  const responder = new Responder(result, request)
  if (responder.isNative) return answered(writeNative(result, responder), new Losses())
  if (isCompactEndpoint(request)) return writeCompactionResult(result)
  const losses = new Losses(foreignLosses(result, FORMAT))
  const [candidate = NO_CANDIDATE] = result.candidates
  const content = endContentOf(candidate)
  const state = result.error === undefined ? writeState(candidate.finish, content) : FAILED
  const last = state.status === 'incomplete' ? 'incomplete' : 'completed'
  const output = writeItems(candidate, responder.base, last, ['candidates', 0], losses)
  report(result, responder, content, losses)
  const usage = result.usage && writeUsage(result.usage, losses)
  return answered(responder.body({ state, output, usage, error: result.error }), losses)
}

const answered = (body: JsonObject, losses: Losses): Written<WireAnswer> => ({
  wire: { status: 200, headers: {}, body },
  losses: losses.list,
})

/** Passes on an answer of this format as received, except for its head and added defaults. */
function writeNative(
  { candidates: [candidate = NO_CANDIDATE], usage, error }: CanonicalResult,
  responder: Responder,
): JsonObject {
  const state = error === undefined ? writeState(candidate.finish, endContentOf(candidate)) : FAILED
  const last = state.status === 'incomplete' ? 'incomplete' : 'completed'
  const items = originalItems(candidate.content, responder.base)
  const complete = (item: JsonObject, index: number): JsonObject =>
    itemWithDefaults(item, { base: responder.base, index, status: index === items.length - 1 ? last : 'completed' })
  const output = responder.addsDefaults ? items.map(complete) : items
  return responder.body({ state, output, usage: usage && writeUsage(usage, new Losses()), error })
}

const RESULT_LOSSES: Unwritten<
  CanonicalResult,
  'id' | 'model' | 'createdAt' | 'candidates' | 'usage' | 'serviceTier' | 'complete' | 'error'
> = { task: 'no-tasks' }

/** Reports losses and additions in an answer from another format. */
function report(result: CanonicalResult, { id, tier }: Responder, content: EndContent, losses: Losses): void {
  const { error, candidates } = result
  losses.dropFields(result, [], RESULT_LOSSES)
  reportHead(result, id, losses)
  if (result.serviceTier === undefined) losses.add(['serviceTier'], tier, 'tier-required')
  losses.dropFields(error, ['error'], { status: 'no-status-of-errors', retryAfterSeconds: 'no-retry-time-in-answers' })
  const [candidate] = candidates
  if (candidate !== undefined && error === undefined) reportFinish(candidate, content, ['candidates', 0], losses)
  else if (candidate?.finish !== undefined) losses.drop(['candidates', 0, 'finish'], 'failed-instead')
}

/** Writes a token count as `{object, input_tokens}`. */
function writeCounted(result: CanonicalResult): Written<WireAnswer> {
  const native = nativeBodyOf(result, FORMAT, {})
  if (native !== undefined) return answered(native, new Losses())
  const losses = new Losses(foreignLosses(result, FORMAT))
  const input_tokens = countedTokens(result, losses)
  return answered({ object: 'response.input_tokens', input_tokens, ...extrasFor(result, FORMAT) }, losses)
}
