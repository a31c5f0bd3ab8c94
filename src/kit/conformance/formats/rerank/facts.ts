import { type MediaFacts, mediaAt, mediaOf } from '../../facts.ts'
import { compact, type Json, type JsonObject, listOf, numberOf, objectOf, textOf } from '../../json.ts'

/* The meaning of a ranking, independent of the format. */

export interface DocumentFacts {
  readonly text?: string
  readonly media?: readonly MediaFacts[]
}

export interface RankingFacts {
  readonly query?: string
  readonly documents?: readonly DocumentFacts[]
  /** Maximum number of ranks. */
  readonly top?: number
  /** True if every rank includes the text of its document. */
  readonly returnsDocuments?: boolean
}

export interface RankFacts {
  /** Index of the document in the request. */
  readonly document?: number
  readonly score?: number
  readonly text?: string
}

export interface RanksFacts {
  readonly ranks?: readonly RankFacts[]
  /** Billed units: tokens, or searches. */
  readonly usage?: { readonly input?: number; readonly searches?: number }
}

/** Reads an image: base64 without a type, or a URL. */
const imageAt = (text: string): MediaFacts =>
  /^[a-z][a-z0-9+.-]*:/i.test(text) ? mediaAt(text) : mediaOf(undefined, text)

/** Returns the facts of a document: a text, or an object with a text or an image. */
export function documentFacts(value: Json | undefined): DocumentFacts {
  if (typeof value === 'string') return { text: value }
  const { text, image } = objectOf(value)
  return compact({
    text: textOf(text),
    media: typeof image === 'string' ? [imageAt(image)] : undefined,
  }) as DocumentFacts
}

/**
 * Returns the facts of a request. `top` is the field for the number of ranks. `returns` is true if documents are
 * returned by default.
 */
export const rankingFacts = (body: JsonObject, top: 'top_n' | 'top_k', returns: boolean): RankingFacts =>
  compact({
    query: textOf(body['query']),
    documents: listOf(body['documents']).map(documentFacts),
    top: numberOf(body[top]),
    returnsDocuments: (body['return_documents'] ?? returns) === true || undefined,
  }) as RankingFacts

/** Returns the ranks of an answer. Voyage has them in `data`, the other vendors in `results`. */
export const ranksIn = (body: JsonObject): JsonObject[] => listOf(body['results'] ?? body['data']).map(objectOf)

function rankFacts(rank: JsonObject): RankFacts {
  const { index, relevance_score: score, document } = rank
  return compact({ document: numberOf(index), score: numberOf(score), text: documentFacts(document).text }) as RankFacts
}

export function ranksFacts(body: JsonObject): RanksFacts {
  const units = objectOf(objectOf(body['meta'])['billed_units'])
  return compact({
    ranks: ranksIn(body).map(rankFacts),
    usage: compact({
      input: numberOf(objectOf(body['usage'])['total_tokens']) ?? numberOf(units['input_tokens']),
      searches: numberOf(units['search_units']),
    }),
  }) as RanksFacts
}
