import type { Part, RankPart } from './content.ts'
import type { CanonicalRequest } from './request.ts'
import type { CanonicalResult } from './result.ts'

/**
 * The ranking in the shape its caller requested, whatever the upstream supports: at most `top` documents, with or
 * without their content. A rank of a document that does not exist is left out.
 */
export function rankedAsRequested(result: CanonicalResult, { messages, output }: CanonicalRequest): CanonicalResult {
  const { ranking } = output
  if (ranking === undefined) return result
  const withContent = (rank: RankPart): RankPart => {
    const { content: _, ...bare } = rank
    return ranking.echo === true ? { ...bare, content: messages[rank.index]!.content } : bare
  }
  const candidates = result.candidates.map(candidate => {
    const content = candidate.content
      .filter((part: Part) => part.type !== 'rank' || messages[part.index] !== undefined)
      .map((part: Part) => (part.type === 'rank' ? withContent(part) : part))
    return { ...candidate, content: ranking.top === undefined ? content : content.slice(0, ranking.top) }
  })
  return { ...result, candidates }
}
