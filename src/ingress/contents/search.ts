import type { Part, SearchSource } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { searchParts } from '../../canonical/search.ts'
import { anyObject, anyObjects } from '../fields.ts'
import { sourceOf } from './citations.ts'

/** The queries in grounding metadata; undefined if the model did not search the web. */
export function queriesIn(metadata: JsonObject): readonly string[] | undefined {
  const queries = metadata['webSearchQueries'] ?? metadata['web_search_queries']
  return Array.isArray(queries) && queries.every(query => typeof query === 'string') ? queries : undefined
}

/**
 * Reads the search of a candidate from its grounding metadata (docs/wire/contents.md#grounding). The metadata covers
 * the whole candidate, so the search comes last.
 */
export function readSearch(grounding: Json | undefined): readonly Part[] {
  const metadata = anyObject(grounding)
  const queries = metadata && queriesIn(metadata)
  if (queries === undefined) return NO_PARTS
  const chunks = anyObjects(metadata!['groundingChunks'] ?? metadata!['grounding_chunks'])
  return searchParts(queries, chunks.flatMap(pageOf)).filter(part => part !== undefined)
}

const NO_PARTS: readonly Part[] = []

/** The page of a chunk; none for other sources. */
function pageOf(chunk: JsonObject): readonly SearchSource[] {
  const source = isObject(chunk['web']) ? sourceOf(chunk) : undefined
  if (source === undefined) return []
  const { url, title } = source
  return [title === undefined ? { url } : { url, title }]
}
