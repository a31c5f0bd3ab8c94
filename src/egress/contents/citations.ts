import type { Annotation, Citation } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { spelt } from '../fields.ts'
import { FORMAT } from './fields.ts'

/**
 * The citations of a candidate's texts as grounding metadata: each names a chunk, by bytes of all the text there is.
 * Those that came with metadata of their own are told by it.
 */
export class GroundingWriter {
  private readonly chunks: JsonObject[] = []
  private readonly places = new Map<string, number>()
  private readonly supports: JsonObject[] = []
  private bytes = 0

  /** One text of the candidate, in order. */
  add(text: string, annotations: readonly Annotation[] | undefined): void {
    for (const annotation of annotations ?? []) if (isTold(annotation)) this.support(text, annotation)
    this.bytes += Buffer.byteLength(text)
  }

  /** All so far, or undefined where there are none. */
  written(): JsonObject | undefined {
    if (this.supports.length === 0) return undefined
    return { groundingChunks: [...this.chunks], groundingSupports: [...this.supports] }
  }

  private support(text: string, citation: Citation): void {
    const place = placeOf(text, citation)
    if (place === undefined) return
    const { start, end } = place
    const startIndex = this.bytes + Buffer.byteLength(text.slice(0, start))
    const words = text.slice(start, end)
    this.supports.push({
      segment: { startIndex, endIndex: startIndex + Buffer.byteLength(words), text: words },
      groundingChunkIndices: [this.chunk(citation)],
    })
  }

  private chunk({ url, title }: Citation): number {
    const key = JSON.stringify([url, title])
    const known = this.places.get(key)
    if (known !== undefined) return known
    this.places.set(key, this.chunks.length)
    this.chunks.push({ web: { uri: url, ...(title === undefined ? {} : { title }) } })
    return this.chunks.length - 1
  }
}

/** A citation that no metadata of the format's own tells already. */
const isTold = (annotation: Annotation): annotation is Citation =>
  annotation.type === 'citation' && spelt(annotation, FORMAT)['own'] === undefined

/** The cited words, all of the text where no place is said; undefined where there are none. */
function placeOf(text: string, { start, end }: Citation): { start: number; end: number } | undefined {
  const fits = start !== undefined && end !== undefined && start < end && end <= text.length
  if (fits && isWhole(text, start) && isWhole(text, end)) return { start, end }
  return text === '' ? undefined : { start: 0, end: text.length }
}

/** Whether the place is not inside a character. */
const isWhole = (text: string, at: number): boolean => !(/[\uDC00-\uDFFF]/.test(text[at] ?? '') && at > 0)

export function reportCitations(
  text: string,
  annotations: readonly Annotation[] | undefined,
  path: Path,
  losses: Losses,
): void {
  for (const [index, annotation] of (annotations ?? []).entries()) {
    const at = [...path, index]
    if (isTold(annotation)) reportCitation(text, annotation, at, losses)
    else if (annotation.type === 'opaque' && annotation.format === FORMAT) losses.drop(at, 'no-place-for-it')
  }
}

function reportCitation(text: string, citation: Citation, path: Path, losses: Losses): void {
  const place = placeOf(text, citation)
  if (place === undefined) return losses.drop(path, 'no-text-to-cite')
  if (citation.quote !== undefined) losses.drop([...path, 'quote'], 'no-quotes')
  if (citation.extras?.[FORMAT] !== undefined) losses.drop([...path, 'extras', FORMAT], 'no-place-for-it')
  for (const edge of ['start', 'end'] as const) {
    if (citation[edge] === undefined) losses.add([...path, edge], place[edge], 'cites-all-of-the-text')
    else if (citation[edge] !== place[edge]) losses.change([...path, edge], place[edge], 'cites-all-of-the-text')
  }
}
