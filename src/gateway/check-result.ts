import type { EmbeddingPart, Part } from '../canonical/content.ts'
import { GatewayError } from '../canonical/error.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResult } from '../canonical/result.ts'
import { vectorAs } from '../canonical/vector.ts'
import { type Work, workOf } from '../canonical/work.ts'
import { oneEach } from './emulations/batches.ts'

type Check = (result: CanonicalResult, asked: CanonicalRequest, native: boolean) => boolean

/**
 * An answer that holds what was asked for. An upstream that says that all went well and sends nothing of it, or less
 * than its caller can tell apart, has failed: another may do better.
 *
 * @throws GatewayError `upstream-failed` for any other.
 */
export function checkedResult(result: CanonicalResult, asked: CanonicalRequest, native: boolean): CanonicalResult {
  const check = CHECKS[workOf(asked)]
  if (check === undefined || check(result, asked, native)) return result
  throw new GatewayError({ kind: 'upstream-failed', message: 'The upstream answered without what it was asked for.' })
}

const CHECKS: { readonly [W in Work]?: Check } = {
  completion: ({ candidates }) => candidates.length > 0,
  // Where nothing was said there is nothing to write down, but the upstream came to an end.
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

/** Vectors of a kind only one format knows are inside something. */
const isOfItsOwn = (part: Part): boolean =>
  part.type === 'opaque' && Object.values(part.value).some(field => typeof field === 'object' && field !== null)

/** What nobody needs to read is only passed on. */
function isVector({ vector }: EmbeddingPart, native: boolean): boolean {
  if (native && !Array.isArray(vector)) return true
  const numbers = vectorAs(vector, 'float') as readonly number[]
  return numbers.length > 0 && numbers.every(Number.isFinite)
}
