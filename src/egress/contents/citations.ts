import { utf8Length } from '../../canonical/base64.ts'
import { Budget } from '../../canonical/budget.ts'
import type { Annotation, Citation, SearchSource } from '../../canonical/content.ts'
import { append } from '../../canonical/lists.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { Offsets } from '../../canonical/text.ts'
import { spellingFor } from '../fields.ts'
import type { SearchPart } from '../searches.ts'
import { FORMAT } from './fields.ts'

/** Maximum total length of a text's cited passages, as a multiple of its length. */
const REPEAT_FACTOR = 32

/**
 * Writes the citations and searches of a candidate as grounding metadata. Each citation refers to a chunk, with byte
 * offsets in the candidate's whole text. Citations from metadata of this format are already part of that metadata.
 * Citations may overlap, so a budget limits how often cited text is repeated.
 */
export class GroundingWriter {
  private readonly chunks: JsonObject[] = []
  private readonly chunkIndexes = new Map<string, number>()
  private readonly supports: Support[] = []
  private readonly queryList: string[] = []
  private hasSearched = false
  /** The pages that searches found. */
  private readonly sources: SearchSource[] = []
  /** Number of cited chunks. They are followed by pages that were found by searches but not cited. */
  private citedChunkCount = 0
  private bytes = 0
  /** Text parts of a stream, by index, because citations may arrive after their part has ended. */
  private texts: Map<number, Text> | undefined
  /** Number of supports already returned by `takeUnreported`. */
  private reportedCount = 0

  /** Adds the next text part of the candidate. If its index is given, it can be cited later. */
  add(text: string, annotations: readonly Annotation[] | undefined, partIndex?: number): void {
    const addedText: Text = {
      text,
      from: this.bytes,
      offsets: new Offsets(text),
      budget: new Budget(REPEAT_FACTOR * text.length),
    }
    this.cite(addedText, annotations)
    this.bytes += utf8Length(text)
    if (partIndex !== undefined) (this.texts ??= new Map()).set(partIndex, addedText)
  }

  /** Adds citations to a text part that was added earlier. */
  addLate(partIndex: number, annotations: readonly Annotation[] | undefined): void {
    const text = this.texts?.get(partIndex)
    if (text !== undefined) this.cite(text, annotations)
  }

  /** Adds a search or its results. */
  addSearch(part: SearchPart): void {
    this.hasSearched = true
    if (part.type === 'search-call') append(this.queryList, part.queries)
    else append(this.sources, part.sources)
  }

  /** The queries of all searches. */
  get queries(): readonly string[] {
    return this.queryList
  }

  /** All pages in the metadata. */
  get pages(): readonly SearchSource[] {
    return this.chunks.map(({ web }) => pageOf(web as JsonObject))
  }

  /** The pages in the metadata that are not cited by any text. */
  get uncitedPages(): readonly SearchSource[] {
    return this.pages.slice(this.citedChunkCount)
  }

  private cite(text: Text, annotations: readonly Annotation[] = []): void {
    for (const annotation of annotations) if (needsSupport(annotation)) this.addSupport(text, annotation)
  }

  /** True if there are any citations. */
  get hasCitations(): boolean {
    return this.supports.length > 0
  }

  /** Returns all citations and searches of an ended candidate, or undefined if there are none. */
  written(): JsonObject | undefined {
    if (!this.hasSearched) return this.hasCitations ? metadataOf(this.supports, this.chunks) : undefined
    this.citedChunkCount = this.chunks.length
    for (const source of this.sources) this.chunkIndexOf(source)
    const { groundingChunks, groundingSupports } = metadataOf(this.supports, this.chunks)
    return {
      webSearchQueries: [...this.queryList],
      ...(this.chunks.length === 0 ? {} : { groundingChunks: groundingChunks! }),
      ...(this.hasCitations ? { groundingSupports: groundingSupports! } : {}),
    }
  }

  /** Returns the citations that this method has not returned before, or undefined if there are none. */
  takeUnreported(): JsonObject | undefined {
    const unreportedSupports = this.supports.slice(this.reportedCount)
    if (unreportedSupports.length === 0) return undefined
    this.reportedCount = this.supports.length
    const newIndexes = new Map<number, number>()
    for (const { chunk } of unreportedSupports) if (!newIndexes.has(chunk)) newIndexes.set(chunk, newIndexes.size)
    return metadataOf(
      unreportedSupports.map(({ segment, chunk }) => ({ segment, chunk: newIndexes.get(chunk)! })),
      [...newIndexes.keys()].map(chunk => this.chunks[chunk]!),
    )
  }

  private addSupport({ text, from, offsets, budget }: Text, citation: Citation): void {
    const range = citedRange(text, citation)
    if (range === undefined) return
    const { start, end } = range
    const passage = text.slice(start, end)
    const segment = {
      startIndex: from + offsets.byteAt(start),
      endIndex: from + offsets.byteAt(end),
      ...(budget.spend(passage) ? { text: passage } : {}),
    }
    this.supports.push({ segment, chunk: this.chunkIndexOf(citation) })
  }

  private chunkIndexOf({ url, title }: SearchSource): number {
    const key = JSON.stringify([url, title])
    const existingIndex = this.chunkIndexes.get(key)
    if (existingIndex !== undefined) return existingIndex
    this.chunkIndexes.set(key, this.chunks.length)
    this.chunks.push({ web: { uri: url, ...(title === undefined ? {} : { title }) } })
    return this.chunks.length - 1
  }
}

const pageOf = ({ uri, title }: JsonObject): SearchSource =>
  title === undefined ? { url: uri as string } : { url: uri as string, title: title as string }

/** A text that may be cited. */
interface Text {
  readonly text: string
  /** Offset of the text in the candidate's whole text, in bytes. */
  readonly from: number
  readonly offsets: Offsets
  /** Limit on how much of the text is repeated in citations. */
  readonly budget: Budget
}

/** A cited passage, and the index of its source chunk. */
interface Support {
  readonly segment: JsonObject
  readonly chunk: number
}

const metadataOf = (supports: readonly Support[], chunks: readonly JsonObject[]): JsonObject => ({
  groundingChunks: [...chunks],
  groundingSupports: supports.map(({ segment, chunk }) => ({ segment, groundingChunkIndices: [chunk] })),
})

/** Returns true if the citation is missing from the format's own metadata. */
const needsSupport = (annotation: Annotation): annotation is Citation =>
  annotation.type === 'citation' && spellingFor(annotation, FORMAT)['own'] === undefined

/**
 * Returns the cited range, or the whole text if the range is missing or invalid. Returns undefined for an empty text.
 */
function citedRange(text: string, { start, end }: Citation): { start: number; end: number } | undefined {
  const isValidRange = start !== undefined && end !== undefined && start < end && end <= text.length
  if (isValidRange && isCharacterBoundary(text, start) && isCharacterBoundary(text, end)) return { start, end }
  return text === '' ? undefined : { start: 0, end: text.length }
}

/** Returns true if the offset does not split a surrogate pair. */
const isCharacterBoundary = (text: string, at: number): boolean => !(/[\uDC00-\uDFFF]/.test(text[at] ?? '') && at > 0)

/** Reports the losses of a text's citations in grounding metadata. */
export function reportCitations(
  text: string,
  annotations: readonly Annotation[] | undefined,
  path: Path,
  losses: Losses,
): void {
  for (const [index, annotation] of (annotations ?? []).entries()) {
    const at = [...path, index]
    if (needsSupport(annotation)) reportCitation(text, annotation, at, losses)
    else if (annotation.type === 'opaque' && annotation.format === FORMAT) losses.drop(at, 'no-equivalent-field')
  }
}

function reportCitation(text: string, citation: Citation, path: Path, losses: Losses): void {
  const range = citedRange(text, citation)
  if (range === undefined) return losses.drop(path, 'no-text-to-cite')
  if (citation.quote !== undefined) losses.drop([...path, 'quote'], 'no-quotes')
  if (citation.extras?.[FORMAT] !== undefined) losses.drop([...path, 'extras', FORMAT], 'no-equivalent-field')
  for (const edge of ['start', 'end'] as const) {
    if (citation[edge] === undefined) losses.add([...path, edge], range[edge], 'cites-all-of-the-text')
    else if (citation[edge] !== range[edge]) losses.change([...path, edge], range[edge], 'cites-all-of-the-text')
  }
}
