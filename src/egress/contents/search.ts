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
 * @param end the index after the last part that is written as a part.
 */
export function reportSearches(
  content: readonly Part[],
  end: number,
  grounding: GroundingWriter,
  lastText: LocatedText | undefined,
  path: Path,
  losses: Losses,
): void {
  if (!content.some(isSearch)) return
  for (const [index, part] of content.entries())
    if (isSearch(part)) losses.dropRestored([...path, index], 'one-search-at-the-end')
  for (const part of searchParts(grounding.queries, grounding.pages))
    if (part !== undefined) losses.insertRestored([...path, end], part, 'one-search-at-the-end')
  if (lastText !== undefined) reportUncited(grounding, lastText, losses)
}

function reportUncited({ uncitedPages }: GroundingWriter, { part, path }: LocatedText, losses: Losses): void {
  const before = part.type === 'text' ? ((part as TextPart).annotations ?? NONE) : NONE
  const added = uncitedPages.map((page): Citation => ({ type: 'citation', ...page }))
  if (added.length === 0) return
  const at = [...path, 'annotations']
  if (before.length === 0) losses.add(at, added, 'pages-are-cited')
  else for (const [index, one] of added.entries()) losses.add([...at, before.length + index], one, 'pages-are-cited')
}

const NONE: readonly never[] = []
