import type { SearchCallPart, SearchResultPart, SearchSource } from './content.ts'

/**
 * Creates the parts of a search for formats that list all queries and pages of an answer once, without ids. The id
 * depends only on the content, so that unary and streamed answers agree.
 */
export function searchParts(
  queries: readonly string[],
  sources: readonly SearchSource[],
): readonly [SearchCallPart, SearchResultPart?] {
  const id = `search_${hashOf(JSON.stringify([queries, sources.map(({ url }) => url)]))}`
  const call: SearchCallPart = { type: 'search-call', id, queries }
  return sources.length === 0 ? [call] : [call, { type: 'search-result', id, sources }]
}

/** Prime of the 32-bit FNV-1a hash. */
const FNV_PRIME = 0x01000193
/** The standard offset basis of FNV-1a, and a second one, so that two hashes give 64 bits in total. */
const HASH_BASES = [0x811c9dc5, 0x9747b28c]

/** Returns a non-cryptographic hash of sixteen hexadecimal digits. */
const hashOf = (text: string): string => HASH_BASES.map(start => hashFrom(start, text)).join('')

function hashFrom(start: number, text: string): string {
  let hash = start
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
