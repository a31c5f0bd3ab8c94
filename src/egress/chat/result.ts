import { foreign, Losses, type Path, type Written } from '../../canonical/loss.ts'
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

/** A whole answer as a `chat.completion` (FORMATS §2, §16.3). */
export function writeResult(result: CanonicalResult, asked: CanonicalRequest): Written<WireAnswer> {
  const losses = new Losses()
  losses.report(foreign(result, FORMAT))
  losses.dropFields(result, [], { task: 'no-tasks', error: 'no-error-beside-an-answer' })
  if (result.createdAt === undefined) losses.add(['createdAt'], 0, 'time-required')
  const object = spelt(result, FORMAT)['object'] ?? 'chat.completion'
  const body = {
    id: result.id ?? '',
    ...(object === 'absent' ? {} : { object }),
    created: result.createdAt ?? 0,
    model: result.model ?? asked.model,
    choices: result.candidates.map((candidate, index) => writeChoice(candidate, index, asked, losses)),
    ...defined({ usage: result.usage && writeUsage(result.usage, losses), service_tier: result.serviceTier }),
    ...kept(result, FORMAT),
  } as JsonObject
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

function writeChoice(candidate: Candidate, index: number, asked: CanonicalRequest, losses: Losses): JsonObject {
  const path: Path = ['candidates', index]
  const own = spelt(candidate, FORMAT)
  const { message: extras, ...outer } = kept(candidate, FORMAT)
  const content = { ...writeMessage(candidate, path, asked, losses), ...kept(nodeOf(extras, own['inside']), FORMAT) }
  const finish_reason = writeFinish(
    candidate,
    candidate.content.some(part => part.type === 'tool-call'),
  )
  reportFinish(candidate, finish_reason, path, losses)
  losses.dropFields(candidate, path, { transcript: 'no-times' })
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
