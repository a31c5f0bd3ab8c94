import type { Annotation, Citation } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { Offsets } from '../../canonical/offsets.ts'
import { spelt } from '../fields.ts'
import { Budget } from '../sanitize/budget.ts'
import { FORMAT } from './fields.ts'

/** How many times over the words of a text may be told again with what is cited. */
const AGAIN = 32

/**
 * The citations of a candidate's texts as grounding metadata: each names a chunk, by bytes of all the text there is.
 * Those that came with metadata of their own are told by it. Citations may overlap: their words are told again as far as
 * a budget goes.
 */
export class GroundingWriter {
  private readonly chunks: JsonObject[] = []
  private readonly places = new Map<string, number>()
  private readonly supports: Support[] = []
  private bytes = 0
  /** How many of the supports were told as news. */
  private told = 0

  /** One text of the candidate, in order. */
  add(text: string, annotations: readonly Annotation[] | undefined): void {
    const offsets = new Offsets(text)
    const budget = new Budget(AGAIN * text.length)
    for (const annotation of annotations ?? []) if (isTold(annotation)) this.support(text, annotation, offsets, budget)
    this.bytes += Buffer.byteLength(text)
  }

  /** Whether anything was cited. */
  get some(): boolean {
    return this.supports.length > 0
  }

  /** All so far, or undefined where there are none. */
  written(): JsonObject | undefined {
    return this.some ? metadataOf(this.supports, this.chunks) : undefined
  }

  /** What was not told yet, or undefined where that is nothing. */
  news(): JsonObject | undefined {
    const fresh = this.supports.slice(this.told)
    if (fresh.length === 0) return undefined
    this.told = this.supports.length
    const places = new Map<number, number>()
    for (const { chunk } of fresh) if (!places.has(chunk)) places.set(chunk, places.size)
    return metadataOf(
      fresh.map(({ segment, chunk }) => ({ segment, chunk: places.get(chunk)! })),
      [...places.keys()].map(chunk => this.chunks[chunk]!),
    )
  }

  private support(text: string, citation: Citation, offsets: Offsets, budget: Budget): void {
    const place = placeOf(text, citation)
    if (place === undefined) return
    const { start, end } = place
    const words = text.slice(start, end)
    const segment = {
      startIndex: this.bytes + offsets.byteAt(start),
      endIndex: this.bytes + offsets.byteAt(end),
      ...(budget.spend(words) ? { text: words } : {}),
    }
    this.supports.push({ segment, chunk: this.chunk(citation) })
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

/** A place of the text, and the chunk that it is out of. */
interface Support {
  readonly segment: JsonObject
  readonly chunk: number
}

const metadataOf = (supports: readonly Support[], chunks: readonly JsonObject[]): JsonObject => ({
  groundingChunks: [...chunks],
  groundingSupports: supports.map(({ segment, chunk }) => ({ segment, groundingChunkIndices: [chunk] })),
})

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
