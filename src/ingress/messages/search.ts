import type { Part, SearchSource } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { anyText, defined, extrasOf } from '../fields.ts'
import { FORMAT } from './wire.ts'

/*
 * Reads hosted web searches (docs/wire/messages.md#web-search). Calls of other hosted tools, and errors of searches,
 * become opaque.
 */

const opaque = (value: JsonObject): Part => ({ type: 'opaque', format: FORMAT, value })

const CALL = new Set(['type', 'id', 'name', 'input'])
const CALL_DIRECT = new Set([...CALL, 'caller'])

/** Reads `server_tool_use`. */
export function readServerCall(wire: JsonObject): Part {
  const id = anyText(wire['id'])
  if (id === undefined || wire['name'] !== 'web_search') return opaque(wire)
  const { queries, isWhole } = readInput(wire['input'] ?? {})
  const extras = extrasOf(FORMAT, wire, isDirect(wire) ? CALL_DIRECT : CALL, isWhole ? undefined : ['input'])
  return { type: 'search-call', id, queries, ...extras }
}

const RESULT_FIELDS = new Set(['type', 'tool_use_id', 'content'])
const RESULT_DIRECT = new Set([...RESULT_FIELDS, 'caller'])

/** Reads `web_search_tool_result`. */
export function readSearchResult(wire: JsonObject): Part {
  const id = anyText(wire['tool_use_id'])
  const { content } = wire
  if (id === undefined || !Array.isArray(content) || !content.every(isSource)) return opaque(wire)
  const sources = content.map(readSource)
  return {
    type: 'search-result',
    id,
    sources,
    ...extrasOf(FORMAT, wire, isDirect(wire) ? RESULT_DIRECT : RESULT_FIELDS),
  }
}

/** Returns true if the model itself called the tool, which is the default. */
export function isDirect({ caller }: JsonObject): boolean {
  return isObject(caller) && caller['type'] === 'direct' && Object.keys(caller).length === 1
}

/**
 * Reads the input of a search. Upstreams send one query in `query`. For any other number, the gateway also writes
 * `queries`. `isWhole` is false if the input contains more than queries.
 */
function readInput(input: Json): { readonly queries: readonly string[]; readonly isWhole: boolean } {
  if (!isObject(input)) return { queries: [], isWhole: false }
  const { query, queries, ...others } = input
  const isPlain = Object.keys(others).length === 0
  if (Array.isArray(queries) && queries.every(one => typeof one === 'string'))
    return { queries, isWhole: isPlain && query === queries[0] }
  if (typeof query === 'string') return { queries: [query], isWhole: isPlain && queries === undefined }
  return { queries: [], isWhole: isPlain && query === undefined && queries === undefined }
}

const isSource = (wire: Json): wire is JsonObject =>
  isObject(wire) &&
  wire['type'] === 'web_search_result' &&
  typeof wire['url'] === 'string' &&
  (wire['title'] == null || typeof wire['title'] === 'string')

const PAGE_FIELDS = new Set(['type', 'url', 'title'])
const SOURCE_WITHOUT_CONTENT = new Set([...PAGE_FIELDS, 'encrypted_content'])

function readSource(wire: JsonObject): SearchSource {
  const title = anyText(wire['title'])
  return {
    url: wire['url'] as string,
    ...defined({ title: title === '' ? undefined : title }),
    ...extrasOf(FORMAT, wire, wire['encrypted_content'] === '' ? SOURCE_WITHOUT_CONTENT : PAGE_FIELDS),
  }
}
