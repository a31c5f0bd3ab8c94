import type { SearchCallPart, SearchResultPart, SearchSource } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { extrasFor } from '../fields.ts'
import type { SearchPart } from '../searches.ts'
import { FORMAT } from './content.ts'
import type { Stamp } from './items.ts'

/* Hosted web searches (docs/wire/responses.md#web-search). A search and its results share one item. */

/** Returns true if the results belong to the search, so that both share one item. */
export const belongsTo = (result: SearchPart, call: SearchPart | undefined): result is SearchResultPart =>
  call?.type === 'search-call' && result.type === 'search-result' && result.id === call.id

/** Writes a search, its results, or both. */
export function writeSearch(part: SearchPart, result: SearchResultPart | undefined, stamp: Stamp): JsonObject {
  const [call, resultPart] = part.type === 'search-call' ? [part, result] : [undefined, part]
  return {
    type: 'web_search_call',
    ...stamp,
    action: { type: 'search', ...(call && writeQueries(call)), ...(resultPart && writeSources(resultPart)) },
    ...(call && extrasFor(call, FORMAT)),
  }
}

const writeQueries = ({ queries }: SearchCallPart): JsonObject => ({ query: queries[0] ?? '', queries })

function writeSources(part: SearchResultPart): JsonObject {
  const others = extrasFor(part, FORMAT)['sources']
  return { sources: [...part.sources.map(writeSource), ...(Array.isArray(others) ? (others as readonly Json[]) : [])] }
}

/** Writes a page without its title, because upstreams neither send nor accept titles. */
const writeSource = (source: SearchSource): JsonObject => ({
  type: 'url',
  url: source.url,
  ...extrasFor(source, FORMAT),
})

const ID_PREFIX = 'ws_'
const RESULTS_SUFFIX = '_results'

/**
 * Returns the id that readers see for a part of a search in an answer. Upstreams of this format do not accept ids with
 * any other prefix in the history.
 */
export const readSearchId = ({ id }: SearchPart): string => (id.startsWith(ID_PREFIX) ? id : ID_PREFIX + id)

/**
 * Returns the id of the item that starts with a search or with results. Results that do not follow their search, as
 * those of parallel searches, get another id than the search, because clients refuse an id that occurs twice.
 */
export const searchId = (part: SearchPart): string =>
  part.type === 'search-call' ? readSearchId(part) : readSearchId(part) + RESULTS_SUFFIX

/**
 * Reports the titles of pages, and extras without a field.
 *
 * @param id the id that readers see.
 */
export function reportSearch(part: SearchPart, id: string, path: Path, losses: Losses): void {
  if (part.cache !== undefined) losses.drop([...path, 'cache'], 'no-cache-markers-here')
  if (part.id !== id) losses.changeRestored([...path, 'id'], id, 'id-made-legal')
  if (part.type === 'search-call') return
  for (const field of Object.keys(extrasFor(part, FORMAT)))
    if (field !== 'sources') losses.drop([...path, 'extras', FORMAT, field], 'no-equivalent-field')
  for (const [index, { title }] of part.sources.entries())
    if (title !== undefined) losses.drop([...path, 'sources', index, 'title'], 'no-titles-of-sources')
}
