import { type Json, type JsonObject, put } from '../../canonical/node.ts'
import { chunksIn, supportsIn } from './citations.ts'

/** Fields of grounding metadata with citations, in both spellings. */
const CITING = ['groundingChunks', 'groundingSupports', 'grounding_chunks', 'grounding_supports'] as const

const cites = (metadata: JsonObject): boolean => CITING.some(field => metadata[field] !== undefined)

const allQueriesIn = (metadata: JsonObject): readonly Json[] => {
  const queries = metadata['webSearchQueries'] ?? metadata['web_search_queries']
  return Array.isArray(queries) ? queries : []
}

/**
 * Joins the grounding metadata of a stream. Each event may repeat the citations of earlier events, add to them, have
 * other ones or none (docs/wire/contents.md#grounding).
 */
export class StreamedGrounding {
  /** Metadata of the last event with citations. */
  private last: JsonObject | undefined
  /** Fields of the events behind it, which have no citations. */
  private laterFields: JsonObject = {}
  /** True if the last metadata with citations repeat those of all events. */
  private isLastWhole = true
  private readonly allFields: JsonObject = {}
  private readonly chunks = new Map<string, { readonly index: number; readonly chunk: JsonObject }>()
  private readonly supports = new Map<string, JsonObject>()
  private readonly queries = new Set<Json>()

  add(metadata: JsonObject): void {
    for (const field in metadata) put(this.allFields, field, metadata[field])
    for (const query of allQueriesIn(metadata)) this.queries.add(query)
    if (this.last === undefined || cites(metadata)) this.addCitations(metadata)
    // Metadata without citations, such as empty ones of a last event, do not take back earlier citations.
    else for (const field in metadata) put(this.laterFields, field, metadata[field])
  }

  private addCitations(metadata: JsonObject): void {
    this.last = metadata
    this.laterFields = {}
    const indexes = chunksIn(metadata).map(chunk => this.indexOf(chunk))
    const keys = supportsIn(metadata).map(support => {
      const moved = withIndexes(support, indexes)
      const key = JSON.stringify(moved)
      this.supports.set(key, moved)
      return key
    })
    this.isLastWhole = new Set(indexes).size === this.chunks.size && new Set(keys).size === this.supports.size
  }

  /** Metadata of the last event, joined with those of all others if they lack earlier citations. */
  get joined(): JsonObject | undefined {
    const { last, laterFields, chunks, supports } = this
    if (last === undefined) return undefined
    if (this.isLastWhole) return { ...last, ...laterFields }
    const { grounding_chunks: _, grounding_supports: __, web_search_queries: ___, ...others } = this.allFields
    return {
      ...others,
      groundingChunks: [...chunks.values()].map(({ chunk }) => chunk),
      ...(supports.size === 0 ? {} : { groundingSupports: [...supports.values()] }),
      ...(this.queries.size === 0 ? {} : { webSearchQueries: [...this.queries] }),
    }
  }

  /** Returns the index of a chunk among the chunks of all events. */
  private indexOf(chunk: JsonObject): number {
    const key = JSON.stringify(chunk)
    const index = this.chunks.get(key)?.index ?? this.chunks.size
    if (index === this.chunks.size) this.chunks.set(key, { index, chunk })
    return index
  }
}

/** Returns a support that refers to the chunks of all events instead of those of its own event. */
function withIndexes({ grounding_chunk_indices, ...support }: JsonObject, indexes: readonly number[]): JsonObject {
  const own = support['groundingChunkIndices'] ?? grounding_chunk_indices
  if (!Array.isArray(own)) return support
  return {
    ...support,
    groundingChunkIndices: own.map(index => (typeof index === 'number' ? (indexes[index] ?? index) : index)),
  }
}
