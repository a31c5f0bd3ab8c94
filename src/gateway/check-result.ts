import type { EmbeddingPart, Part } from '../canonical/content.ts'
import { GatewayError } from '../canonical/error.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import { vectorAs } from '../canonical/vector.ts'
import { type Work, workOf } from '../canonical/work.ts'
import { oneEach } from './emulations/one-each.ts'

type Check = (result: CanonicalResult, request: CanonicalRequest, native: boolean) => boolean

/**
 * An answer that holds what was requested. An upstream whose successful answer holds nothing of it, or fewer parts than
 * inputs, has failed: another may do better.
 *
 * @throws GatewayError `upstream-failed` for any other.
 */
export function checkedResult(result: CanonicalResult, request: CanonicalRequest, native: boolean): CanonicalResult {
  const check = CHECKS[workOf(request)]
  if (check === undefined || check(result, request, native)) return result
  throw new GatewayError({ kind: 'upstream-failed', message: 'The upstream answered without what it was asked for.' })
}

const CHECKS: { readonly [W in Work]?: Check } = {
  completion: ({ candidates }) => candidates.length > 0,
  // A silent recording has no transcript, but the upstream finishes.
  transcription: ({ candidates }) =>
    candidates.some(({ content, finish }) => content.length > 0 || finish?.reason === 'stop'),
  embedding: (result, { messages }, native) =>
    oneEach(contentOf(result), messages.length).every(part =>
      part.type === 'embedding' ? isVector(part, native) : native && isOfItsOwn(part),
    ),
  ranking: (result, { messages }) =>
    messages.length === 0 || contentOf(result).some(part => part.type === 'rank' && messages[part.index] !== undefined),
  video: ({ task }) => task !== undefined,
  image: ({ candidates }) =>
    candidates.some(({ content, finish }) => content.length > 0 || (finish !== undefined && finish.reason !== 'stop')),
}

const contentOf = ({ candidates }: CanonicalResult): readonly Part[] => candidates[0]?.content ?? []

/** Vectors of a kind that only one format has are inside an object or a list. */
const isOfItsOwn = (part: Part): boolean =>
  part.type === 'opaque' && Object.values(part.value).some(field => typeof field === 'object' && field !== null)

/** A vector that is passed on as it came is not checked. */
function isVector({ vector }: EmbeddingPart, native: boolean): boolean {
  if (native && !Array.isArray(vector)) return true
  const numbers = vectorAs(vector, 'float') as readonly number[]
  return numbers.length > 0 && numbers.every(Number.isFinite)
}
