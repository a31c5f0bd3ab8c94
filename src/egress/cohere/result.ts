import type { EmbeddingPart } from '../../canonical/content.ts'
import { foreignLosses, Losses, type Path, type Written } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import { encodingOf, type VectorEncoding, vectorAs } from '../../canonical/vector.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { workOf } from '../../canonical/work.ts'
import { defined, extrasFor, spellingFor } from '../fields.ts'
import { nativeBodyOf, OPTIONAL_HEAD } from '../native.ts'
import { reportUnwrittenResult } from '../sanitize/unwritten.ts'
import { writeMeta } from '../usage/meta.ts'
import { FORMAT } from './request.ts'

const WRITTEN_FIELDS = new Set(['id', 'candidates', 'usage'])
const CONTENT_PATH: Path = ['candidates', 0, 'content']

/**
 * Writes an answer (docs/wire/embeddings.md#cohere, docs/wire/rerank.md#response): vectors if they were requested,
 * otherwise ranks.
 */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const nativeBody = nativeBodyOf(result, FORMAT, OPTIONAL_HEAD)
  if (nativeBody !== undefined && !(expectsList(request) && isObject(nativeBody['embeddings'])))
    return { wire: { status: 200, headers: {}, body: nativeBody }, losses: [] }
  const losses = new Losses(foreignLosses(result, FORMAT))
  reportUnwrittenResult(result, WRITTEN_FIELDS, losses)
  const isEmbedding = workOf(request) === 'embedding'
  const { embeddings: embeddingsExtras, ...others } = extrasFor(result, FORMAT)
  const answer = isEmbedding
    ? writeVectors(result, request, embeddingsExtras, losses)
    : { results: writeRanks(result, losses) }
  const body = { ...defined({ id: result.id }), ...answer, ...writeMetaField(result, isEmbedding, losses), ...others }
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

/** Writes `meta`, which clients require in embeddings. */
function writeMetaField({ usage }: CanonicalResult, isEmbedding: boolean, losses: Losses): JsonObject {
  if (!isEmbedding || usage?.input !== undefined)
    return usage === undefined ? {} : { meta: writeMeta(FORMAT, usage, losses) }
  if (usage === undefined) losses.add(['usage'], { input: 0 }, 'usage-required')
  else losses.add(['usage', 'input'], 0, 'usage-required')
  return { meta: writeMeta(FORMAT, { ...usage, input: 0 }, losses) }
}

/** Writes ranks without document texts, because version 2 never returns them. */
function writeRanks({ candidates }: CanonicalResult, losses: Losses): readonly Json[] {
  return (candidates[0]?.content ?? []).flatMap((part, index): Json[] => {
    if (part.type === 'opaque' && part.format === FORMAT) return [part.value]
    if (part.type === 'rank') {
      losses.dropFields(part, [...CONTENT_PATH, index], { content: 'not-repeated', cache: 'no-cache-markers' })
      return [{ index: part.index, relevance_score: part.score, ...extrasFor(part, FORMAT) }]
    }
    if (part.type !== 'opaque' || part.text !== undefined) losses.drop([...CONTENT_PATH, index], 'no-equivalent-field')
    return []
  })
}

function writeVectors(
  result: CanonicalResult,
  request: CanonicalRequest,
  embeddingsExtras: Json | undefined,
  losses: Losses,
): JsonObject {
  const content = result.candidates[0]?.content ?? []
  const parts = content.filter(part => part.type === 'embedding')
  const encoding = encodingToWrite(parts, request)
  const vectors = content.flatMap((part, index): Json[] => {
    if (part.type === 'embedding') return [inEncoding(part, encoding, index, losses)]
    if (part.type !== 'opaque' || part.text !== undefined || part.format === FORMAT)
      losses.drop([...CONTENT_PATH, index], 'no-equivalent-field')
    return []
  })
  const otherTypes = { ...otherTypesOf(parts), ...(embeddingsExtras as JsonObject | undefined) }
  if (expectsList(request) && Object.keys(otherTypes).length === 0)
    return { response_type: 'embeddings_floats', embeddings: vectors, ...echoOf(parts) }
  return { response_type: 'embeddings_by_type', embeddings: { [encoding]: vectors, ...otherTypes }, ...echoOf(parts) }
}

/** Returns true if the caller expects a plain list of vectors, as in the API's first version. */
const expectsList = (request: CanonicalRequest): boolean => spellingFor(request, FORMAT)['list'] === true

/**
 * Returns the embedded texts if the upstream returned one with every vector. Batches are already merged at this point.
 */
function echoOf(parts: readonly EmbeddingPart[]): JsonObject {
  const texts = parts.map(part => spellingFor(part, FORMAT)['text'])
  return parts.length > 0 && texts.every(text => text !== undefined) ? { texts: texts as readonly Json[] } : {}
}

/** Returns the encoding to write: the requested encoding, or the upstream's if none was requested. Lists have numbers. */
function encodingToWrite(parts: readonly EmbeddingPart[], request: CanonicalRequest): VectorEncoding {
  if (expectsList(request)) return 'float'
  const encoding = parts.length > 0 && parts.every(({ vector }) => typeof vector === 'string') ? 'base64' : 'float'
  return request.output.embedding?.encoding ?? encoding
}

/** Returns the vector in the requested encoding. A conversion is not a loss. */
function inEncoding({ vector }: EmbeddingPart, encoding: VectorEncoding, index: number, losses: Losses): Json {
  const became = vectorAs(vector, encoding)
  if (encodingOf(vector) !== encoding)
    losses.changeRestored([...CONTENT_PATH, index, 'vector'], became, 'said-otherwise')
  return became
}

/** Returns the same vectors in all other requested types. */
function otherTypesOf(parts: readonly EmbeddingPart[]): JsonObject {
  const types = Object.keys(parts[0]?.extras?.[FORMAT] ?? {})
  return Object.fromEntries(types.map(type => [type, parts.map(part => part.extras?.[FORMAT]?.[type] ?? null)]))
}
