import { createHash } from 'node:crypto'
import type { SearchCallPart, SearchResultPart, SearchSource } from './content.ts'

/** Hexadecimal digits of a generated id. */
const ID_LENGTH = 24

/**
 * Makes the parts of a search from formats that state all queries and pages of an answer once, without ids. The id
 * depends on the content alone, so that whole and streamed answers agree.
 */
export function searchParts(
  queries: readonly string[],
  sources: readonly SearchSource[],
): readonly [SearchCallPart, SearchResultPart?] {
  const content = JSON.stringify([queries, sources.map(({ url }) => url)])
  const id = `search_${createHash('sha256').update(content).digest('hex').slice(0, ID_LENGTH)}`
  const call: SearchCallPart = { type: 'search-call', id, queries }
  return sources.length === 0 ? [call] : [call, { type: 'search-result', id, sources }]
}
