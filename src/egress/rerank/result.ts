import type { RankPart } from '../../canonical/content.ts'
import { foreignLosses, Losses, type Path, type Written } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { defined, kept, spelt } from '../fields.ts'
import { ownBody } from '../own.ts'
import { onlyAnswers } from '../sanitize/bare.ts'
import { ownCounts, writeInputUsage } from '../usage/input-usage.ts'
import { writeMeta } from '../usage/meta.ts'
import { FORMAT, writeDocument } from './request.ts'

const WRITTEN = new Set(['id', 'model', 'candidates', 'usage'])

/** Writes a whole answer (FORMATS §9) in the style that the client expects: Jina's, Cohere's or Voyage's. */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const own = ownBody(result, FORMAT)
  const style = spelt(request, FORMAT)['style'] ?? (own === undefined ? 'jina' : styleOf(own))
  if (own !== undefined && styleOf(own) === style) {
    const usage = style === 'cohere' ? undefined : ownCounts(result.usage, FORMAT, COUNTS)
    return { wire: { status: 200, headers: {}, body: { ...own, ...defined({ usage }) } }, losses: [] }
  }
  const losses = new Losses(foreignLosses(result, FORMAT))
  onlyAnswers(result, WRITTEN, losses)
  const isCohere = style === 'cohere'
  const body = {
    ...defined({ id: result.id, model: result.model, object: isCohere ? undefined : 'list' }),
    [style === 'voyage' ? 'data' : 'results']: writeRanks(result, style === 'voyage', losses),
    ...(isCohere
      ? defined({ meta: result.usage && writeMeta(FORMAT, result.usage, losses) })
      : { usage: writeInputUsage(result.usage, FORMAT, COUNTS, losses) }),
    ...kept(result, FORMAT),
  } as JsonObject
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

/** Recognizes the vendor by the shape of an answer. */
const styleOf = (body: JsonObject): string =>
  isObject(body['meta']) ? 'cohere' : Array.isArray(body['results']) ? 'jina' : 'voyage'

/** The token counts that clients require, in every style but Cohere's. */
const COUNTS = ['total_tokens']

/** Writes the ranks. With `plain`, a document that is a single text is written as a string. */
function writeRanks({ candidates }: CanonicalResult, plain: boolean, losses: Losses): readonly Json[] {
  return (candidates[0]?.content ?? []).flatMap((part, index): Json[] => {
    const path: Path = ['candidates', 0, 'content', index]
    if (part.type === 'rank') return [writeRank(part, path, plain, losses)]
    if (part.type === 'opaque' && part.format === FORMAT) return [part.value]
    // `foreignLosses` reports another format's part, unless it has a text.
    if (part.type !== 'opaque' || part.text !== undefined) losses.drop(path, 'no-place-for-it')
    return []
  })
}

function writeRank(rank: RankPart, path: Path, plain: boolean, losses: Losses): JsonObject {
  const context = { textOnly: false, plain: (text: string) => (plain ? text : { text }), losses }
  return {
    index: rank.index,
    relevance_score: rank.score,
    ...defined({ document: rank.content && writeDocument(rank.content, [...path, 'content'], context) }),
    ...kept(rank, FORMAT),
  }
}
