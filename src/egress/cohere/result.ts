import type { EmbeddingPart } from '../../canonical/content.ts'
import { foreign, Losses, type Path, type Written } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import { encodingOf, type VectorEncoding, vectorAs } from '../../canonical/vector.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { workOf } from '../../canonical/work.ts'
import { defined, kept, spelt } from '../fields.ts'
import { onlyAnswers } from '../sanitize/bare.ts'
import { writeMeta } from '../usage/meta.ts'

const FORMAT = 'cohere'
const WRITTEN = new Set(['id', 'candidates', 'usage'])
const NAMED = new Set([...WRITTEN, 'model'])
const AT: Path = ['candidates', 0, 'content']

/** A whole answer (FORMATS §8, §9): a ranking, or vectors where they were requested. */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const losses = new Losses()
  losses.report(foreign(result, FORMAT))
  const named = spelt(result, FORMAT)['named'] === true
  onlyAnswers(result, named ? NAMED : WRITTEN, losses)
  const isEmbed = workOf(request) === 'embedding' || spelt(result, FORMAT)['kind'] === 'embed'
  const body = {
    ...defined({ id: result.id, model: named ? result.model : undefined }),
    ...(isEmbed ? writeVectors(result, request, losses) : { results: writeRanks(result, losses) }),
    ...writeSpent(result, isEmbed, losses),
  } as JsonObject
  const { embeddings: more, ...others } = kept(result, FORMAT)
  const all = { ...body, ...others }
  const merged =
    more === undefined ? all : { ...all, embeddings: { ...(body['embeddings'] as object), ...(more as object) } }
  return { wire: { status: 200, headers: {}, body: merged }, losses: losses.list }
}

/** Clients require billed units for vectors. */
function writeSpent(result: CanonicalResult, isEmbed: boolean, losses: Losses): JsonObject {
  const { usage } = result
  if (!isEmbed || usage?.input !== undefined || spelt(result, FORMAT)['kind'] !== undefined)
    return usage === undefined ? {} : { meta: writeMeta(FORMAT, usage, losses) }
  if (usage === undefined) losses.add(['usage'], { input: 0 }, 'usage-required')
  else losses.add(['usage', 'input'], 0, 'usage-required')
  return { meta: writeMeta(FORMAT, { ...usage, input: 0 }, losses) }
}

/** Ranks without their content, which this version never returns. */
function writeRanks({ candidates }: CanonicalResult, losses: Losses): readonly Json[] {
  return (candidates[0]?.content ?? []).flatMap((part, index): Json[] => {
    if (part.type === 'opaque' && part.format === FORMAT) return [part.value]
    if (part.type === 'rank') {
      losses.dropFields(part, [...AT, index], { content: 'not-told-again', cache: 'no-cache-markers' })
      return [{ index: part.index, relevance_score: part.score, ...kept(part, FORMAT) }]
    }
    if (part.type !== 'opaque' || part.text !== undefined) losses.drop([...AT, index], 'no-place-for-it')
    return []
  })
}

function writeVectors(result: CanonicalResult, request: CanonicalRequest, losses: Losses): JsonObject {
  const content = result.candidates[0]?.content ?? []
  const parts = content.filter(part => part.type === 'embedding')
  const { type, flat, response_type = 'embeddings_by_type' } = spelt(result, FORMAT)
  const own = typeof type === 'string' ? type : undefined
  const wanted = wantedOf(parts, request)
  const vectors = content.flatMap((part, index): Json[] => {
    if (part.type === 'embedding')
      return [own === undefined ? inEncoding(part, wanted, index, losses) : (part.vector as Json)]
    if (part.type !== 'opaque' || part.text !== undefined || part.format === FORMAT)
      losses.drop([...AT, index], 'no-place-for-it')
    return []
  })
  const lists = { ...(own === 'none' ? {} : { [own ?? wanted]: vectors }), ...besideOf(parts) }
  return {
    ...(response_type === 'absent' ? {} : { response_type }),
    embeddings: flat === true ? vectors : lists,
    ...echoOf(parts),
  }
}

/** The embedded texts, where the upstream returned them. */
function echoOf(parts: readonly EmbeddingPart[]): JsonObject {
  const texts = parts.map(part => spelt(part, FORMAT)['text'])
  return parts.length > 0 && texts.every(text => text !== undefined) ? { texts: texts as readonly Json[] } : {}
}

function wantedOf(parts: readonly EmbeddingPart[], request: CanonicalRequest): VectorEncoding {
  const encoding = parts.length > 0 && parts.every(({ vector }) => typeof vector === 'string') ? 'base64' : 'float'
  return request.output.embedding?.encoding ?? encoding
}

/** The vector in the requested encoding; a conversion is no loss. */
function inEncoding({ vector }: EmbeddingPart, wanted: VectorEncoding, index: number, losses: Losses): Json {
  const became = vectorAs(vector, wanted)
  if (encodingOf(vector) !== wanted) losses.rename([...AT, index, 'vector'], became, 'said-otherwise')
  return became
}

/** The same vectors in other requested types. */
function besideOf(parts: readonly EmbeddingPart[]): JsonObject {
  const types = Object.keys(parts[0]?.extras?.[FORMAT] ?? {})
  return Object.fromEntries(types.map(type => [type, parts.map(part => part.extras?.[FORMAT]?.[type] ?? null)]))
}
