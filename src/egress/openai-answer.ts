import { foreign, Losses, type Unwritten, type Written } from '../canonical/loss.ts'
import type { Format, JsonObject } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { Candidate, CanonicalResult } from '../canonical/result.ts'
import type { WireAnswer } from '../canonical/wire.ts'
import { defined, kept } from './fields.ts'
import { dated, ownBody } from './own.ts'
import { writeUsage } from './usage/openai.ts'

/** What distinguishes the answers of chat completions from those of text completions. */
interface AnswerKind {
  readonly format: Format
  readonly object: string
  writeChoice(candidate: Candidate, index: number, losses: Losses): JsonObject
}

const LOSSES: Unwritten<
  CanonicalResult,
  'id' | 'model' | 'createdAt' | 'candidates' | 'usage' | 'serviceTier' | 'complete'
> = { task: 'no-tasks', error: 'no-error-beside-an-answer' }

/** A whole answer of either format (FORMATS §§2, 3, 16.3). */
export function writeAnswer(
  result: CanonicalResult,
  request: CanonicalRequest,
  { format, object, writeChoice }: AnswerKind,
): Written<WireAnswer> {
  const own = ownBody(result, format)
  if (own !== undefined) return { wire: { status: 200, headers: {}, body: dated(own, result) }, losses: [] }
  const losses = new Losses(foreign(result, format))
  losses.dropFields(result, [], LOSSES)
  if (result.createdAt === undefined) losses.add(['createdAt'], 0, 'time-required')
  const body = {
    ...{ id: result.id ?? '', object, created: result.createdAt ?? 0, model: result.model ?? request.model },
    choices: result.candidates.map((candidate, index) => writeChoice(candidate, index, losses)),
    ...defined({ usage: result.usage && writeUsage(format, result.usage, losses), service_tier: result.serviceTier }),
    ...kept(result, format),
  } as JsonObject
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}
