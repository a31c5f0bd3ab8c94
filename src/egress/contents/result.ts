import { CallIds } from '../../canonical/call-ids.ts'
import { foreign, Losses, type Unwritten, type Written } from '../../canonical/loss.ts'
import type { Json, JsonObject, Node } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { spelt } from '../fields.ts'
import { writeCandidate } from './candidate.ts'
import { errorBody } from './error.ts'
import { FORMAT, withExtras } from './fields.ts'
import { writeUsage } from './usage.ts'

const RESULT_LOSSES: Unwritten<
  CanonicalResult,
  'id' | 'model' | 'createdAt' | 'candidates' | 'usage' | 'serviceTier' | 'complete' | 'error'
> = { task: 'no-tasks' }

/** A whole answer of generateContent (FORMATS §7). */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const losses = new Losses()
  losses.report(foreign(result, FORMAT))
  losses.dropFields(result, [], RESULT_LOSSES)
  reportTime(result, losses)
  const body = withExtras(result, {
    candidates: writeCandidates(result, request, losses),
    usageMetadata: writeUsage(result.usage, result.serviceTier, losses),
    ...writeHead(result),
    ...(result.error === undefined ? {} : errorBody(result.error)),
  })
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

/** A prompt that was blocked has no candidates (trap 15). */
function writeCandidates(result: CanonicalResult, request: CanonicalRequest, losses: Losses): Json | undefined {
  const { candidates } = result
  const how = candidates[0] === undefined ? undefined : blockedHow(candidates[0])
  if (how !== undefined) return how === 'empty' ? [] : undefined
  const own = isOwn(result)
  return candidates.map((candidate, index) =>
    writeCandidate(candidate, index, { ids: CallIds.after(request), own, losses }),
  )
}

/** Whether the answer comes from an upstream of this same format. */
export const isOwn = (head: Node): boolean => spelt(head, FORMAT)['own'] === true

/** The upstream's spelling of a missing candidate list, or undefined. */
export const blockedHow = (candidate: Node): Json | undefined => spelt(candidate, FORMAT)['blocked']

/** Model, id and time of the answer. */
export function writeHead(result: Pick<CanonicalResult, 'id' | 'model' | 'createdAt' | 'spelling'>): JsonObject {
  const { id, model, createdAt } = result
  const time = spelt(result, FORMAT)['createTime']
  return {
    ...(model === undefined ? {} : { modelVersion: model }),
    ...(id === undefined ? {} : { responseId: id }),
    ...(time === 'absent' ? {} : typeof time === 'string' ? { createTime: time } : writeTime(createdAt)),
  }
}

/** The last second that a date can represent. */
const LAST_SECOND = 8.64e12

const writeTime = (seconds: number | undefined): JsonObject =>
  seconds === undefined || !(Math.abs(seconds) <= LAST_SECOND)
    ? {}
    : { createTime: new Date(Math.floor(seconds) * 1000).toISOString().replace('.000Z', 'Z') }

function reportTime({ createdAt }: CanonicalResult, losses: Losses): void {
  if (createdAt === undefined) return
  if (!(Math.abs(createdAt) <= LAST_SECOND)) losses.drop(['createdAt'], 'no-such-time')
  else if (!Number.isInteger(createdAt)) losses.change(['createdAt'], Math.floor(createdAt), 'whole-seconds')
}
