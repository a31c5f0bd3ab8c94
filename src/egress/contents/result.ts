import { CallIds } from '../../canonical/call-ids.ts'
import { foreignLosses, Losses, type Unwritten, type Written } from '../../canonical/loss.ts'
import { defined, type Json, type JsonObject, type Node } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { spellingFor } from '../fields.ts'
import { nativeBodyOf } from '../native.ts'
import { reportTime, timeText } from '../sanitize/times.ts'
import { writeCandidate } from './candidate.ts'
import { errorBody } from './error.ts'
import { FORMAT, nativeExtras, withExtras } from './fields.ts'
import { writeUsage } from './usage.ts'

const RESULT_LOSSES: Unwritten<
  CanonicalResult,
  'id' | 'model' | 'createdAt' | 'candidates' | 'usage' | 'serviceTier' | 'complete' | 'error'
> = { task: 'no-tasks' }

/** Writes a unary answer of generateContent (docs/wire/contents.md#response). */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const native = nativeBodyOf(result, FORMAT, NATIVE_HEAD)
  if (native !== undefined) return { wire: { status: 200, headers: {}, body: native }, losses: [] }
  const losses = new Losses(foreignLosses(result, FORMAT))
  losses.dropFields(result, [], RESULT_LOSSES)
  reportTime(result, losses)
  const body = withExtras(nativeExtras(result), {
    candidates: writeCandidates(result, request, losses),
    usageMetadata: writeUsage(result.usage, result.serviceTier, losses),
    ...writeHead(result),
    ...(result.error === undefined ? {} : errorBody(result.error)),
  })
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

/** Wire fields of an answer's id and model. */
const NATIVE_HEAD = { id: 'responseId', model: 'modelVersion' }

/** Writes the candidates. There are none if the prompt was blocked (trap 15). */
function writeCandidates(result: CanonicalResult, request: CanonicalRequest, losses: Losses): Json | undefined {
  const { candidates } = result
  if (candidates[0] !== undefined && isBlocked(candidates[0])) return undefined
  const isNative = isNativeAnswer(result)
  return candidates.map((candidate, index) =>
    writeCandidate(candidate, index, { ids: CallIds.after(request), isNative, losses }),
  )
}

/** Returns true if the answer comes from an upstream of this format. */
export const isNativeAnswer = (head: Node): boolean => spellingFor(head, FORMAT)['own'] === true

/** Returns true if the upstream blocked the prompt and returned no candidates. */
export const isBlocked = (candidate: Node): boolean => spellingFor(candidate, FORMAT)['blocked'] === true

/** Writes the answer's model, id and time. */
export function writeHead(result: Pick<CanonicalResult, 'id' | 'model' | 'createdAt' | 'spelling'>): JsonObject {
  const { id, model, createdAt } = result
  const time = spellingFor(result, FORMAT)['createTime']
  return {
    ...(model === undefined ? {} : { modelVersion: model }),
    ...(id === undefined ? {} : { responseId: id }),
    ...(time === 'absent'
      ? {}
      : typeof time === 'string'
        ? { createTime: time }
        : defined({ createTime: timeText(createdAt) })),
  }
}
