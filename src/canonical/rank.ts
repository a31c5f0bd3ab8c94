import type { Part, RankPart } from './content.ts'
import type { CanonicalRequest } from './request.ts'
import type { CanonicalResult } from './result.ts'

/**
 * A ranking as its caller asked for it, whatever the upstream could do: no more documents than wanted, each told again
 * as the caller said it, or not. A rank of no document there is says nothing, so it is left out.
 */
export function rankedAsAsked(result: CanonicalResult, { messages, output }: CanonicalRequest): CanonicalResult {
  const { ranking } = output
  if (ranking === undefined) return result
  const told = (rank: RankPart): RankPart => {
    const { content: _, ...bare } = rank
    return ranking.echo === true ? { ...bare, content: messages[rank.index]!.content } : bare
  }
  const candidates = result.candidates.map(candidate => {
    const content = candidate.content
      .filter((part: Part) => part.type !== 'rank' || messages[part.index] !== undefined)
      .map((part: Part) => (part.type === 'rank' ? told(part) : part))
    return { ...candidate, content: ranking.top === undefined ? content : content.slice(0, ranking.top) }
  })
  return { ...result, candidates }
}
