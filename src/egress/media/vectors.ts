import type { EmbeddingPart } from '../../canonical/content.ts'
import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import type { Format, JsonObject } from '../../canonical/node.ts'
import type { Candidate, CanonicalResult } from '../../canonical/result.ts'
import { dropExtras, NO_TASK } from '../sanitize/unwritten.ts'

/* Answers that consist of vectors, a model and a token count. */

const RESULT_LOSSES: Unwritten<CanonicalResult, 'model' | 'candidates' | 'usage' | 'complete'> = {
  id: 'no-id',
  createdAt: 'no-time',
  ...NO_TASK,
  serviceTier: 'no-tiers',
}
const CANDIDATE_LOSSES: Unwritten<Candidate, 'content'> = {
  finish: 'nothing-to-finish',
  logprobs: 'no-logprobs',
  transcript: 'no-transcript',
}

/**
 * Writes the vectors and this format's opaque parts from the first candidate. Everything else in the answer is lost.
 */
export function writeVectors(
  result: CanonicalResult,
  format: Format,
  write: (part: EmbeddingPart, path: Path, index: number) => JsonObject,
  losses: Losses,
): readonly JsonObject[] {
  losses.dropFields(result, [], RESULT_LOSSES)
  const [candidate, ...others] = result.candidates
  for (const index of others.keys()) losses.drop(['candidates', index + 1], 'one-candidate')
  losses.dropFields(candidate, ['candidates', 0], CANDIDATE_LOSSES)
  dropExtras(candidate, ['candidates', 0], format, losses)
  const vectors: JsonObject[] = []
  for (const [index, part] of (candidate?.content ?? []).entries()) {
    const path: Path = ['candidates', 0, 'content', index]
    if (part.type === 'embedding') vectors.push(write(part, path, vectors.length))
    else if (part.type === 'opaque' && part.format === format) vectors.push(part.value)
    else losses.drop(path, 'no-vector')
  }
  return vectors
}
