import type { Part, SearchSource } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { anyText, defined, extrasOf } from '../fields.ts'
import { FORMAT } from './wire.ts'

/* Reads hosted web searches (docs/wire/responses.md#web-search). */

const KNOWN_FIELDS = new Set(['type', 'role', 'id', 'status', 'action'])
const ACTION = new Set(['type', 'query', 'queries', 'sources'])

/**
 * Reads a search as a call, its results or both. Returns undefined for any other item, and for actions on a single
 * page, which other formats lack.
 */
export function readSearch(wire: JsonObject): readonly [Part, ...Part[]] | undefined {
  const id = wire['id'] ?? ''
  const action = wire['action'] ?? SEARCHING
  if (wire['type'] !== 'web_search_call' || typeof id !== 'string' || !isSearch(action)) return undefined
  const node = extrasOf(FORMAT, wire, KNOWN_FIELDS)
  const queries = readQueries(action)
  const sources = readSources(action['sources'])
  if (queries === undefined || sources === undefined) return undefined
  const call: Part = { type: 'search-call', id, queries }
  if (sources === null) return [{ ...call, ...node }]
  const result: Part = { type: 'search-result', id, ...sources }
  if (action['query'] != null || action['queries'] != null) return [{ ...call, ...node }, result]
  return node.extras === undefined ? [{ ...result, id: id.replace(RESULTS_SUFFIX, '') }] : undefined
}

/** End of the id that the gateway gives to an item with results alone, so that it differs from that of the search. */
const RESULTS_SUFFIX = /_results$/

/** Action of a search that has just started. */
const SEARCHING: JsonObject = { type: 'search' }

const isSearch = (action: Json): action is JsonObject =>
  isObject(action) && action['type'] === 'search' && Object.keys(action).every(field => ACTION.has(field))

/** Returns the queries. Upstreams may send only `query`. The result is undefined if a field has the wrong type. */
function readQueries({ query, queries }: JsonObject): readonly string[] | undefined {
  if (query != null && typeof query !== 'string') return undefined
  if (queries == null) return query == null ? [] : [query]
  if (!Array.isArray(queries) || !queries.every(one => typeof one === 'string')) return undefined
  return query == null || query === '' || queries.includes(query) ? queries : [query, ...queries]
}

/**
 * Returns the pages that were found. Other sources become extras. Returns null if the upstream sent no sources, and
 * undefined if the field has the wrong type.
 */
function readSources(
  wire: Json | undefined,
): Pick<Part & { type: 'search-result' }, 'sources' | 'extras'> | null | undefined {
  if (wire == null) return null
  if (!Array.isArray(wire) || !wire.every(isObject)) return undefined
  const others = wire.filter(source => !isPage(source))
  const sources = wire.filter(isPage).map(readSource)
  return others.length === 0 ? { sources } : { sources, extras: { [FORMAT]: { sources: others } } }
}

const isPage = ({ type, url, title }: JsonObject): boolean =>
  type === 'url' && typeof url === 'string' && (title == null || typeof title === 'string')

const PAGE_FIELDS = new Set(['type', 'url', 'title'])

const readSource = (wire: JsonObject): SearchSource => ({
  url: wire['url'] as string,
  ...defined({ title: anyText(wire['title']) }),
  ...extrasOf(FORMAT, wire, PAGE_FIELDS),
})
