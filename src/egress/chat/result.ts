import { foreign, Losses, type Path, type Unwritten, type Written } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { defined, kept, spelt } from '../fields.ts'
import { nodeOf, writeLogprob } from './answer.ts'
import { FORMAT } from './content.ts'
import { reportFinish, writeFinish } from './finish.ts'
import { writeMessage } from './message.ts'
import { writeUsage } from './usage.ts'

const RESULT_LOSSES: Unwritten<
  CanonicalResult,
  'id' | 'model' | 'createdAt' | 'candidates' | 'usage' | 'serviceTier' | 'complete'
> = { task: 'no-tasks', error: 'no-error-beside-an-answer' }

/** A whole answer as a `chat.completion` (FORMATS §2, §16.3). */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const losses = new Losses()
  losses.report(foreign(result, FORMAT))
  losses.dropFields(result, [], RESULT_LOSSES)
  if (result.createdAt === undefined) losses.add(['createdAt'], 0, 'time-required')
  const object = spelt(result, FORMAT)['object'] ?? 'chat.completion'
  const body = {
    id: result.id ?? '',
    ...(object === 'absent' ? {} : { object }),
    created: result.createdAt ?? 0,
    model: result.model ?? request.model,
    choices: result.candidates.map((candidate, index) => writeChoice(candidate, index, request, losses)),
    ...defined({ usage: result.usage && writeUsage(result.usage, losses), service_tier: result.serviceTier }),
    ...kept(result, FORMAT),
  } as JsonObject
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}
const CANDIDATE_LOSSES: Unwritten<Candidate, 'content' | 'finish' | 'logprobs'> = { transcript: 'no-times' }

function writeChoice(candidate: Candidate, index: number, request: CanonicalRequest, losses: Losses): JsonObject {
  const path: Path = ['candidates', index]
  const own = spelt(candidate, FORMAT)
  const { message: extras, ...outer } = kept(candidate, FORMAT)
  const content = { ...writeMessage(candidate, path, request, losses), ...kept(nodeOf(extras, own['inside']), FORMAT) }
  const finish_reason = writeFinish(
    candidate,
    candidate.content.some(part => part.type === 'tool-call'),
  )
  reportFinish(candidate, finish_reason, path, losses)
  losses.dropFields(candidate, path, CANDIDATE_LOSSES)
  const logprobs = writeLogprobs(candidate, own)
  const ended = finish_reason === 'absent' ? {} : { finish_reason }
  return { index: own['index'] ?? index, message: content, ...logprobs, ...ended, ...outer }
}

function writeLogprobs(candidate: Candidate, own: JsonObject): { logprobs?: Json } {
  if (candidate.logprobs === undefined) return own['own'] === undefined ? { logprobs: null } : {}
  return {
    logprobs: {
      content: candidate.logprobs.map(writeLogprob),
      ...((own['logprobs'] as JsonObject) ?? { refusal: null }),
    },
  }
}
