import type { Part, SearchSource } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { searchParts } from '../../canonical/search.ts'
import { anyObject } from '../fields.ts'
import { chunksIn, queriesIn, sourceOf } from './citations.ts'

/**
 * Reads the search of a candidate from its grounding metadata (docs/wire/contents.md#grounding). The metadata covers
 * the whole candidate, so the search is its last part.
 */
export function readSearch(grounding: Json | undefined): readonly Part[] {
  const metadata = anyObject(grounding)
  const queries = metadata && queriesIn(metadata)
  if (queries === undefined) return NO_PARTS
  return searchParts(queries, chunksIn(metadata!).flatMap(pageOf)).filter(part => part !== undefined)
}

const NO_PARTS: readonly Part[] = []

/** Returns the web page of a chunk, or an empty list for other sources. */
function pageOf(chunk: JsonObject): readonly SearchSource[] {
  const source = isObject(chunk['web']) ? sourceOf(chunk) : undefined
  if (source === undefined) return []
  const { url, title } = source
  return [title === undefined ? { url } : { url, title }]
}
