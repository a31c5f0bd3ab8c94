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

/** 32-bit FNV-1a: the prime, the standard offset basis, and a second basis for 64 bits in total. */
const PRIME = 0x01000193
const STARTS = [0x811c9dc5, 0x9747b28c]

/** Returns a non-cryptographic hash of sixteen hexadecimal digits. */
const hashOf = (text: string): string => STARTS.map(start => hashFrom(start, text)).join('')

function hashFrom(start: number, text: string): string {
  let hash = start
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
