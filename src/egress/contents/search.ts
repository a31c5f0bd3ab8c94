import type { Citation, Part, TextPart } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import { searchParts } from '../../canonical/search.ts'
import { isSearch } from '../searches.ts'
import type { GroundingWriter } from './citations.ts'

/** A text of a candidate and its path. */
export interface LocatedText {
  readonly part: Part
  readonly path: Path
}

/**
 * Reports the searches of a candidate as readers read them back from its grounding metadata: as one search after all
 * other parts. Its pages become citations of the last text unless a text already cites them.
 *
 * @param writtenCount the index after the last part that is written as a part.
 */
export function reportSearches(
  content: readonly Part[],
  writtenCount: number,
  grounding: GroundingWriter,
  lastText: LocatedText | undefined,
  path: Path,
  losses: Losses,
): void {
  if (!content.some(isSearch)) return
  for (const [index, part] of content.entries())
    if (isSearch(part)) losses.dropRestored([...path, index], 'one-search-at-the-end')
  for (const part of searchParts(grounding.queries, grounding.pages))
    if (part !== undefined) losses.insertRestored([...path, writtenCount], part, 'one-search-at-the-end')
  if (lastText !== undefined) reportUncited(grounding, lastText, losses)
}

function reportUncited({ uncitedPages }: GroundingWriter, { part, path }: LocatedText, losses: Losses): void {
  const annotations = part.type === 'text' ? ((part as TextPart).annotations ?? NO_ANNOTATIONS) : NO_ANNOTATIONS
  const addedCitations = uncitedPages.map((page): Citation => ({ type: 'citation', ...page }))
  if (addedCitations.length === 0) return
  const at = [...path, 'annotations']
  if (annotations.length === 0) losses.add(at, addedCitations, 'pages-are-cited')
  else
    for (const [index, one] of addedCitations.entries())
      losses.add([...at, annotations.length + index], one, 'pages-are-cited')
}

const NO_ANNOTATIONS: readonly never[] = []
