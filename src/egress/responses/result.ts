import { foreign, Losses, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { writeCompactionResult } from './compaction.ts'
import { completedItem } from './complete.ts'
import { FORMAT } from './content.ts'
import { isCompactDoor } from './door.ts'
import { writeItems } from './output.ts'
import { Responder } from './response.ts'
import { type Made, madeOf, reportFinish, type State, writeState } from './status.ts'
import { writeUsage } from './usage.ts'

const SILENT: Candidate = { content: [] }
const FAILED: State = { status: 'failed', incomplete_details: null }

/** A whole answer as a response object (FORMATS §4), which repeats what was asked. */
export function writeResult(result: CanonicalResult, asked: CanonicalRequest): Written<WireAnswer> {
  const responder = new Responder(result, asked)
  if (!responder.own && isCompactDoor(asked)) return writeCompactionResult(result)
  const losses = new Losses()
  losses.report(foreign(result, FORMAT))
  const [candidate = SILENT] = result.candidates
  const made = madeOf(candidate)
  const state = result.error === undefined ? writeState(candidate.finish, made) : FAILED
  const last = state.status === 'incomplete' ? 'incomplete' : 'completed'
  const items = writeItems(candidate, responder.base, last, ['candidates', 0], losses)
  const output = responder.completes ? completedItems(items, responder.base, last) : items
  if (!responder.own) report(result, responder, made, losses)
  const usage = result.usage && writeUsage(result.usage, losses)
  const body = responder.body({ state, output, usage, error: result.error })
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

const completedItems = (items: readonly JsonObject[], base: string, last: string): readonly JsonObject[] =>
  items.map((item, index) =>
    completedItem(item, { base, index, status: index === items.length - 1 ? last : 'completed' }),
  )

/** What an answer of another format has to give up, and what it has to take on. */
function report(result: CanonicalResult, { id, tier }: Responder, made: Made, losses: Losses): void {
  const { error, candidates } = result
  losses.dropFields(result, [], { task: 'no-tasks' })
  if (result.id === undefined) losses.add(['id'], id, 'id-required')
  else if (result.id !== id) losses.rename(['id'], id, 'id-made-legal')
  if (result.createdAt === undefined) losses.add(['createdAt'], 0, 'time-required')
  if (result.serviceTier === undefined) losses.add(['serviceTier'], tier, 'tier-required')
  losses.dropFields(error, ['error'], { status: 'no-status-of-errors', retryAfterSeconds: 'no-retry-time-in-answers' })
  for (const index of candidates.keys()) if (index > 0) losses.drop(['candidates', index], 'one-answer-only')
  const [candidate] = candidates
  if (candidate?.extras?.[FORMAT] !== undefined) losses.drop(['candidates', 0, 'extras', FORMAT], 'no-place-for-it')
  if (candidate !== undefined && error === undefined) reportFinish(candidate, made, ['candidates', 0], losses)
  else if (candidate?.finish !== undefined) losses.drop(['candidates', 0, 'finish'], 'failed-instead')
  if (candidates.length === 0 && error === undefined)
    losses.add(['candidates', 0], { content: [], finish: { reason: 'stop' } }, 'one-answer-always')
}
