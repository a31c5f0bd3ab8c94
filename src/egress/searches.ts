import type { Part, SearchCallPart, SearchResultPart, SearchSource, TextPart } from '../canonical/content.ts'
import type { Losses, Path } from '../canonical/loss.ts'
import { defined } from '../canonical/node.ts'

/** A search that an upstream ran, or its results. */
export type SearchPart = SearchCallPart | SearchResultPart

export const isSearch = (part: Part): part is SearchPart => part.type === 'search-call' || part.type === 'search-result'

/**
 * Describes a search from an earlier turn in words, for formats whose histories cannot hold other upstreams' searches.
 */
export function searchInWords(part: SearchPart, path: Path, losses: Losses): TextPart {
  const text: TextPart = {
    type: 'text',
    text: part.type === 'search-call' ? callInWords(part) : resultInWords(part),
    ...defined({ cache: part.cache }),
  }
  losses.change(path, text, 'search-said-in-words')
  return text
}

const callInWords = ({ queries }: SearchCallPart): string =>
  queries.length === 0 ? 'Searched the web.' : `Searched the web for: ${queries.join('; ')}`

const resultInWords = ({ sources }: SearchResultPart): string =>
  sources.length === 0 ? 'Found no pages.' : ['Found these pages:', ...sources.map(sourceInWords)].join('\n')

const sourceInWords = ({ url, title }: SearchSource): string =>
  title === undefined || title === '' ? `- ${url}` : `- ${title}: ${url}`
