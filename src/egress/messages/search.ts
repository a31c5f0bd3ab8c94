import type { Part, SearchCallPart, SearchResultPart, SearchSource } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import { extrasFor } from '../fields.ts'
import { isSearch, type SearchPart } from '../searches.ts'
import { type Block, FORMAT } from './context.ts'

/* Hosted web searches (docs/wire/messages.md#web-search). */

/** The `encrypted_content` of pages found by other upstreams. */
const NO_CONTENT = ''

const DIRECT_CALLER = { caller: { type: 'direct' } }

/** Prefix of the ids of searches that other upstreams ran. */
const FOREIGN_PREFIX = 'srvtoolu_foreign_'
const LEGAL_ID = /^srvtoolu_[a-zA-Z0-9_]+$/

/** Returns a search id in the form that upstreams of this format require. */
const searchId = ({ id }: SearchPart): string =>
  LEGAL_ID.test(id) ? id : FOREIGN_PREFIX + id.replace(/[^a-zA-Z0-9_]/g, '_')

/** Writes a search or its results as a block. */
export const searchBlock = (part: SearchPart): Block =>
  part.type === 'search-call' ? callBlock(part) : resultBlock(part)

const callBlock = (part: SearchCallPart): Block => ({
  type: 'server_tool_use',
  id: searchId(part),
  name: 'web_search',
  input: inputOf(part),
  ...DIRECT_CALLER,
  ...extrasFor(part, FORMAT),
})

/**
 * Writes the input of a search. The tool expects one query, so any other number of queries is written next to the
 * first.
 */
function inputOf({ queries }: SearchCallPart): Block {
  const [query] = queries
  if (query === undefined) return {}
  return queries.length === 1 ? { query } : { query, queries }
}

const resultBlock = (part: SearchResultPart): Block => ({
  type: 'web_search_tool_result',
  tool_use_id: searchId(part),
  content: part.sources.map(writeSource),
  ...DIRECT_CALLER,
  ...extrasFor(part, FORMAT),
})

const writeSource = (source: SearchSource): Block => ({
  type: 'web_search_result',
  url: source.url,
  title: source.title ?? '',
  encrypted_content: NO_CONTENT,
  page_age: null,
  ...extrasFor(source, FORMAT),
})

/** Reports ids that were made valid, and empty titles, which mean an unknown title in this format. */
export function reportSearch(part: SearchPart, path: Path, losses: Losses): void {
  const id = searchId(part)
  if (id !== part.id) losses.changeRestored([...path, 'id'], id, 'id-made-legal')
  if (part.type === 'search-call') return
  for (const [index, { title }] of part.sources.entries())
    if (title === '') losses.dropRestored([...path, 'sources', index, 'title'], 'nothing-titled')
}

/**
 * Returns true if all pages were found by an upstream of this format, which refuses pages without its own
 * `encrypted_content`.
 */
const isNativeResult = ({ sources }: SearchResultPart): boolean =>
  sources.every(source => source.extras?.[FORMAT]?.['encrypted_content'] !== undefined)

/**
 * Returns true for a search that another upstream ran. The upstream refuses its pages, and a search without pages, which
 * Responses does not name.
 */
export const isForeignSearch = (part: SearchPart): boolean =>
  part.id.startsWith(FOREIGN_PREFIX) || (part.type === 'search-result' && !isNativeResult(part))

/** Returns the ids of searches in a turn that the upstream would refuse. */
export function refusedSearches(content: readonly Part[]): ReadonlySet<string> {
  let ids: Set<string> | undefined
  for (const part of content) if (isSearch(part) && isForeignSearch(part)) (ids ??= new Set()).add(part.id)
  return ids ?? NO_IDS
}

/** Returns the ids of searches in a turn that the upstream accepts back, because it found their results itself. */
export function acceptedSearches(content: readonly Part[]): ReadonlySet<string> {
  let ids: Set<string> | undefined
  for (const part of content)
    if (part.type === 'search-result' && part.sources.length > 0 && isNativeResult(part))
      (ids ??= new Set()).add(part.id)
  return ids ?? NO_IDS
}

const NO_IDS: ReadonlySet<string> = new Set()
