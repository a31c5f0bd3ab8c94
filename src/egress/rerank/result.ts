import type { RankPart } from '../../canonical/content.ts'
import { foreignLosses, Losses, type Path, type Written } from '../../canonical/loss.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResult } from '../../canonical/result.ts'
import type { WireAnswer } from '../../canonical/wire.ts'
import { defined, extrasFor, spellingFor } from '../fields.ts'
import { nativeBodyOf } from '../native.ts'
import { reportUnwrittenResult } from '../sanitize/unwritten.ts'
import { nativeCounts, writeInputUsage } from '../usage/input-usage.ts'
import { writeMeta } from '../usage/meta.ts'
import { FORMAT, writeDocument } from './request.ts'

const WRITTEN_FIELDS = new Set(['id', 'model', 'candidates', 'usage'])

/**
 * Writes an answer (docs/wire/rerank.md#response) in the style that the client expects: Jina's, Cohere's or Voyage's.
 */
export function writeResult(result: CanonicalResult, request: CanonicalRequest): Written<WireAnswer> {
  const nativeBody = nativeBodyOf(result, FORMAT)
  const style = spellingFor(request, FORMAT)['style'] ?? (nativeBody === undefined ? 'jina' : styleOf(nativeBody))
  if (nativeBody !== undefined && styleOf(nativeBody) === style) {
    const usage = style === 'cohere' ? undefined : countsFor(request, nativeCounts(result.usage, FORMAT, COUNTS))
    return { wire: { status: 200, headers: {}, body: { ...nativeBody, ...defined({ usage }) } }, losses: [] }
  }
  const losses = new Losses(foreignLosses(result, FORMAT))
  reportUnwrittenResult(result, WRITTEN_FIELDS, losses)
  const isCohere = style === 'cohere'
  const body = {
    ...defined({ id: result.id, model: result.model, object: isCohere ? undefined : 'list' }),
    [style === 'voyage' ? 'data' : 'results']: writeRanks(result, style === 'voyage', losses),
    ...(isCohere
      ? defined({ meta: result.usage && writeMeta(FORMAT, result.usage, losses) })
      : { usage: countsFor(request, writeInputUsage(result.usage, FORMAT, COUNTS, losses)) }),
    ...extrasFor(result, FORMAT),
  } as JsonObject
  return { wire: { status: 200, headers: {}, body }, losses: losses.list }
}

/** Returns the vendor whose style an answer has. */
const styleOf = (body: JsonObject): string =>
  isObject(body['meta']) ? 'cohere' : Array.isArray(body['results']) ? 'jina' : 'voyage'

/** Token counts that clients require in every style except Cohere's. */
const COUNTS = ['total_tokens']

/** Returns the counts, with those of Together if the client requires them. Rankings have no output. */
function countsFor(request: CanonicalRequest, usage: JsonObject | undefined): JsonObject | undefined {
  if (spellingFor(request, FORMAT)['counts'] !== 'all') return usage
  const total = usage?.['total_tokens'] ?? 0
  return { prompt_tokens: total, completion_tokens: 0, total_tokens: total, ...usage }
}

/** Writes the ranks. If `plain` is set, a document that consists of a single text is written as a string. */
function writeRanks({ candidates }: CanonicalResult, plain: boolean, losses: Losses): readonly Json[] {
  return (candidates[0]?.content ?? []).flatMap((part, index): Json[] => {
    const path: Path = ['candidates', 0, 'content', index]
    if (part.type === 'rank') return [writeRank(part, path, plain, losses)]
    if (part.type === 'opaque' && part.format === FORMAT) return [part.value]
    // `foreignLosses` reports parts of other formats that have no text.
    if (part.type !== 'opaque' || part.text !== undefined) losses.drop(path, 'no-equivalent-field')
    return []
  })
}

function writeRank(rank: RankPart, path: Path, plain: boolean, losses: Losses): JsonObject {
  const context = { textOnly: false, plain: (text: string) => (plain ? text : { text }), losses }
  return {
    index: rank.index,
    relevance_score: rank.score,
    ...defined({ document: rank.content && writeDocument(rank.content, [...path, 'content'], context) }),
    ...extrasFor(rank, FORMAT),
  }
}
