import type { EmbeddingPart, Part, RankPart } from '../../canonical/content.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { type Candidate, type CanonicalResult, rankedAsRequested } from '../../canonical/result.ts'
import { workOf } from '../../canonical/work.ts'

/**
 * Adapts a recorded answer to a request that matches the recording only partially: one vector for each input, one rank
 * for each document, and only the requested timestamps of a transcript. Recorded vectors are reused in turn. Documents
 * without a recorded rank are last.
 */
export function fittedResult(result: CanonicalResult, request: CanonicalRequest): CanonicalResult {
  const work = workOf(request)
  if (work === 'transcription')
    return {
      ...result,
      candidates: result.candidates.map(one => withRequestedTimes(one, request.output.transcript?.timestamps)),
    }
  const { [work]: fitContent } = FITTERS
  const [first, ...others] = result.candidates
  if (fitContent === undefined || first === undefined) return result
  const content = fitContent(first.content, request.messages.length)
  return rankedAsRequested({ ...result, candidates: [{ ...first, content }, ...others] }, request)
}

/**
 * Removes timestamps that were not requested. If none were requested, removes all details of the transcript.
 */
function withRequestedTimes({ transcript, ...candidate }: Candidate, granularities: readonly string[] = []): Candidate {
  if (transcript === undefined || granularities.length === 0) return candidate
  const { words, segments, ...others } = transcript
  const has = (name: string): boolean => granularities.includes(name)
  return {
    ...candidate,
    transcript: {
      ...others,
      ...(words !== undefined && has('word') ? { words } : {}),
      ...(segments !== undefined && has('segment') ? { segments } : {}),
    },
  }
}

type Fitter = (content: readonly Part[], count: number) => readonly Part[]

/** Kinds of work whose answers have one part for each message of the request. */
const FITTERS: { readonly [work: string]: Fitter | undefined } = {
  __proto__: null as never,
  embedding: (content, count) => {
    const vectors = content.filter((part): part is EmbeddingPart => part.type === 'embedding')
    if (vectors.length === 0) return content
    return Array.from({ length: count }, (_, index) => ({ ...vectors[index % vectors.length]! }))
  },
  ranking: (content, count) => {
    const ranks = content.filter((part): part is RankPart => part.type === 'rank' && part.index < count)
    const ranked = new Set(ranks.map(({ index }) => index))
    const others = Array.from({ length: count }, (_, index) => index).filter(index => !ranked.has(index))
    return [...ranks, ...others.map((index): RankPart => ({ type: 'rank', index, score: 0 }))]
  },
}
