import type { Part, SearchSource } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { anyText, defined, extrasOf } from '../fields.ts'
import { FORMAT } from './wire.ts'

/* Reads searches that the upstream ran (docs/wire/interactions.md#searches). */

const CALL_FIELDS = new Set(['type', 'id', 'arguments'])
const QUERIES = new Set(['queries'])
const RESULT_FIELDS = new Set(['type', 'call_id', 'result'])
const PAGE_FIELDS = new Set(['url', 'title'])

/** Reads a search or its results. Returns undefined for any other step, or for one that cannot be parsed. */
export function readSearch(wire: JsonObject): Part | undefined {
  if (wire['type'] === 'google_search_call') return readSearchCall(wire)
  return wire['type'] === 'google_search_result' ? readSearchResult(wire) : undefined
}

function readSearchCall(wire: JsonObject): Part | undefined {
  const id = anyText(wire['id'])
  const queryObject = wire['arguments'] ?? {}
  if (id === undefined || !isObject(queryObject)) return undefined
  const queries = queryObject['queries'] ?? []
  if (!Array.isArray(queries) || !queries.every(one => typeof one === 'string')) return undefined
  const others = extrasOf(FORMAT, queryObject, QUERIES).extras?.[FORMAT]
  const { extras } = extrasOf(FORMAT, withoutSignature(wire), CALL_FIELDS)
  const fields = { ...extras?.[FORMAT], ...(others === undefined ? {} : { arguments: others }) }
  return {
    type: 'search-call',
    id,
    queries,
    ...(Object.keys(fields).length === 0 ? {} : { extras: { [FORMAT]: fields } }),
  }
}

/** Reads the pages of a search. Other entries, such as suggestions to show, are kept in `extras`. */
function readSearchResult(wire: JsonObject): Part | undefined {
  const id = anyText(wire['call_id'])
  const results = wire['result'] ?? []
  if (id === undefined || !Array.isArray(results)) return undefined
  const sources = results.filter(isPage).map(readSource)
  const others = (results as readonly Json[]).filter(one => !isPage(one))
  const { extras } = extrasOf(FORMAT, withoutSignature(wire), RESULT_FIELDS)
  const fields = { ...extras?.[FORMAT], ...(others.length === 0 ? {} : { result: others }) }
  return {
    type: 'search-result',
    id,
    sources,
    ...(Object.keys(fields).length === 0 ? {} : { extras: { [FORMAT]: fields } }),
  }
}

/** Removes an empty signature from a step, because it means that there is no signature. */
function withoutSignature(wire: JsonObject): JsonObject {
  if (wire['signature'] !== '') return wire
  const { signature: _, ...others } = wire
  return others
}

const isPage = (wire: Json): wire is JsonObject =>
  isObject(wire) && typeof wire['url'] === 'string' && (wire['title'] == null || typeof wire['title'] === 'string')

const readSource = (wire: JsonObject): SearchSource => ({
  url: wire['url'] as string,
  ...defined({ title: anyText(wire['title']) }),
  ...extrasOf(FORMAT, wire, PAGE_FIELDS),
})
