import { foreign, Losses, type Unwritten, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { defined, kept, spelt } from '../fields.ts'
import { reportFinish, writeFinish } from './finish.ts'
import { reportLogprobs, writeLogprobs } from './logprobs.ts'
import { FORMAT } from './prompt.ts'
import { echoOf, writeTexts } from './texts.ts'
import { writeUsage } from './usage.ts'

const RESULT_LOSSES: Unwritten<
  CanonicalResult,
  'id' | 'model' | 'createdAt' | 'candidates' | 'usage' | 'serviceTier' | 'complete'
> = { task: 'no-tasks', error: 'no-error-beside-an-answer' }

/** A whole answer as a `text_completion` (FORMATS §3). */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const losses = new Losses()
  losses.report(foreign(result, FORMAT))
  losses.dropFields(result, [], RESULT_LOSSES)
  const { own, object = 'text_completion' } = spelt(result, FORMAT)
  if (own === undefined && result.createdAt === undefined) losses.add(['createdAt'], 0, 'time-required')
  const { length } = result.candidates
  const body = {
    ...(own === true && result.id === undefined ? {} : { id: result.id ?? '' }),
    ...(object === 'absent' ? {} : { object }),
    ...(own === true && result.createdAt === undefined ? {} : { created: result.createdAt ?? 0 }),
    ...(own === true && result.model === undefined ? {} : { model: result.model ?? request.model }),
    choices: result.candidates.map((candidate, index) =>
      writeChoice(candidate, index, own === true ? '' : echoOf(request, index, length), losses),
    ),
    ...defined({ usage: result.usage && writeUsage(result.usage, losses), service_tier: result.serviceTier }),
    ...kept(result, FORMAT),
  } as JsonObject
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}
const CANDIDATE_LOSSES: Unwritten<Candidate, 'content' | 'finish' | 'logprobs'> = { transcript: 'no-times' }

function writeChoice(candidate: Candidate, index: number, echo: string, losses: Losses): JsonObject {
  const path = ['candidates', index]
  losses.dropFields(candidate, path, CANDIDATE_LOSSES)
  const text = writeTexts(candidate.content, [...path, 'content'], losses)
  if (echo !== '')
    losses.list.push({ kind: 'inserted', path: [...path, 'content', 0], value: { type: 'text', text: echo }, ...ECHO })
  reportFinish(candidate, path, losses)
  const own = spelt(candidate, FORMAT)
  const { logprobs } = candidate
  if (logprobs !== undefined && own['logprobs'] === undefined) reportLogprobs(logprobs, [...path, 'logprobs'], losses)
  const rated = own['logprobs'] ?? (logprobs === undefined ? null : writeLogprobs(logprobs, echo.length))
  return {
    ...(own['index'] === 'absent' ? {} : { index: own['index'] ?? index }),
    ...(own['text'] === undefined ? { text: echo + text } : own['text'] === 'absent' ? {} : { text: own['text'] }),
    ...(rated === 'absent' ? {} : { logprobs: rated }),
    ...(own['finish'] === 'absent' ? {} : { finish_reason: writeFinish(candidate) }),
    ...kept(candidate, FORMAT),
  }
}

/** The caller requested the echo, so it is not shown as a loss. */
const ECHO = { reason: 'echoed', restored: true } as const
