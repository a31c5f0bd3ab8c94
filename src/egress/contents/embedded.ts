import type { EmbeddingPart } from '../../canonical/content.ts'
import { foreign, Losses, type Path, type Unwritten, type Written } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Candidate, CanonicalResult, Usage } from '../../canonical/result.ts'
import { vectorAs } from '../../canonical/vector.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { spelt } from '../fields.ts'
import { FORMAT, withExtras } from './fields.ts'
import { writeUsage } from './usage.ts'

/** Vectors in the shape of the requested method: one `embedding`, or a list of `embeddings` (FORMATS §8). */
export function writeEmbedded(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const losses = new Losses()
  losses.report(foreign(result, FORMAT))
  losses.dropFields(result, [], RESULT_LOSSES)
  const vectors = writeVectors(result.candidates, losses)
  const { method } = spelt(request, FORMAT)
  const alone = method === undefined ? spelt(result, FORMAT)['single'] === true : method === 'embedContent'
  const body = withExtras(result, {
    ...(alone && vectors.length === 1 ? { embedding: vectors[0] } : { embeddings: vectors }),
    usageMetadata: writeCounts(result.usage, losses),
  })
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

const RESULT_LOSSES = {
  ...{ id: 'no-id', model: 'no-model-told', createdAt: 'no-time' },
  ...{ task: 'no-tasks', error: 'no-error-beside-an-answer', serviceTier: 'no-tiers' },
}
const CANDIDATE_LOSSES: Unwritten<Candidate, 'content'> = {
  finish: 'nothing-to-finish',
  logprobs: 'no-logprobs',
  transcript: 'no-transcript',
}

function writeVectors([candidate, ...others]: readonly Candidate[], losses: Losses): readonly JsonObject[] {
  for (const index of others.keys()) losses.drop(['candidates', index + 1], 'one-candidate')
  if (candidate === undefined) return []
  losses.dropFields(candidate, ['candidates', 0], CANDIDATE_LOSSES)
  for (const field in candidate.extras?.[FORMAT])
    losses.drop(['candidates', 0, 'extras', FORMAT, field], 'no-place-for-it')
  const vectors: JsonObject[] = []
  for (const [index, part] of candidate.content.entries()) {
    const path: Path = ['candidates', 0, 'content', index]
    if (part.type === 'embedding') vectors.push(withExtras(part, { values: numbersOf(part, path, losses) }))
    else if (part.type === 'opaque' && part.format === FORMAT) vectors.push(part.value)
    else losses.drop(path, 'no-vector')
  }
  return vectors
}

/** Always numbers; a conversion is no loss to the caller. */
function numbersOf({ vector }: EmbeddingPart, path: Path, losses: Losses): readonly number[] {
  const numbers = vectorAs(vector, 'float') as readonly number[]
  if (typeof vector !== 'string') return numbers
  losses.rename([...path, 'vector'], numbers, 'always-numbers')
  return numbers
}

function writeCounts(usage: Usage | undefined, losses: Losses): JsonObject | undefined {
  const counts = writeUsage(usage, undefined, losses)
  if (counts === undefined || spelt(usage, FORMAT)['whole'] !== undefined) return counts
  const { promptTokensDetails, ...others } = counts
  return promptTokensDetails === undefined ? counts : { ...others, promptTokenDetails: promptTokensDetails }
}
