import { foreign, Losses, type Unwritten, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { writeCompactionResult } from './compaction.ts'
import { completedItem } from './complete.ts'
import { FORMAT } from './content.ts'
import { isCompactEndpoint } from './endpoint.ts'
import { writeItems } from './output.ts'
import { Responder } from './response.ts'
import { type EndContent, endContentOf, type ResponseState, reportFinish, writeState } from './status.ts'
import { writeUsage } from './usage.ts'

const SILENT: Candidate = { content: [] }
const FAILED: ResponseState = { status: 'failed', incomplete_details: null }

/** A whole answer as a response object (FORMATS §4), which repeats the request's settings. */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const responder = new Responder(result, request)
  if (!responder.own && isCompactEndpoint(request)) return writeCompactionResult(result)
  const losses = new Losses()
  losses.report(foreign(result, FORMAT))
  const [candidate = SILENT] = result.candidates
  const content = endContentOf(candidate)
  const state = result.error === undefined ? writeState(candidate.finish, content) : FAILED
  const last = state.status === 'incomplete' ? 'incomplete' : 'completed'
  const items = writeItems(candidate, responder.base, last, ['candidates', 0], losses)
  const output = responder.completes ? completedItems(items, responder.base, last) : items
  if (!responder.own) report(result, responder, content, losses)
  const usage = result.usage && writeUsage(result.usage, losses)
  const body = responder.body({ state, output, usage, error: result.error })
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

const completedItems = (items: readonly JsonObject[], base: string, last: string): readonly JsonObject[] =>
  items.map((item, index) =>
    completedItem(item, { base, index, status: index === items.length - 1 ? last : 'completed' }),
  )
const RESULT_LOSSES: Unwritten<
  CanonicalResult,
  'id' | 'model' | 'createdAt' | 'candidates' | 'usage' | 'serviceTier' | 'complete' | 'error'
> = { task: 'no-tasks' }

/** Reports the losses and additions of an answer of another format. */
function report(result: CanonicalResult, { id, tier }: Responder, content: EndContent, losses: Losses): void {
  const { error, candidates } = result
  losses.dropFields(result, [], RESULT_LOSSES)
  if (result.id === undefined) losses.add(['id'], id, 'id-required')
  else if (result.id !== id) losses.rename(['id'], id, 'id-made-legal')
  if (result.createdAt === undefined) losses.add(['createdAt'], 0, 'time-required')
  if (result.serviceTier === undefined) losses.add(['serviceTier'], tier, 'tier-required')
  losses.dropFields(error, ['error'], { status: 'no-status-of-errors', retryAfterSeconds: 'no-retry-time-in-answers' })
  for (const index of candidates.keys()) if (index > 0) losses.drop(['candidates', index], 'one-answer-only')
  const [candidate] = candidates
  if (candidate?.extras?.[FORMAT] !== undefined) losses.drop(['candidates', 0, 'extras', FORMAT], 'no-place-for-it')
  if (candidate !== undefined && error === undefined) reportFinish(candidate, content, ['candidates', 0], losses)
  else if (candidate?.finish !== undefined) losses.drop(['candidates', 0, 'finish'], 'failed-instead')
  if (candidates.length === 0 && error === undefined)
    losses.add(['candidates', 0], { content: [], finish: { reason: 'stop' } }, 'one-answer-always')
}
