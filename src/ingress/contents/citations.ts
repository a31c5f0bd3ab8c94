import type { Citation } from '../../canonical/content.ts'
import { getOrAdd } from '../../canonical/maps.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import { lastAtOrBefore, Offsets } from '../../canonical/text.ts'
import { anyNumber, anyObjects, anyText, defined } from '../fields.ts'
import { FORMAT } from './fields.ts'

/**
 * A citation with offsets in the candidate's concatenated text, in UTF-16 units. Without offsets, it covers all text.
 */
export interface LocatedCitation {
  readonly start?: number
  readonly end?: number
  readonly citation: Citation
}

/** Citations read from grounding metadata. */
export interface Grounding {
  readonly citations: readonly LocatedCitation[]
  /** True if the citations and the search cover everything in the metadata. */
  readonly complete: boolean
}

/** Reads grounding metadata. Its `groundingSupports` refer to chunks and locate text by byte offsets (trap 82). */
export function readGrounding(metadata: JsonObject, ranges: TextRanges): Grounding {
  const chunks = chunksIn(metadata)
  const supports = supportsIn(metadata)
  const citedChunks = new Set<number>()
  const located: LocatedCitation[] = []
  const hasSearched = queriesIn(metadata) !== undefined
  let complete = hasOnly(metadata, hasSearched ? SEARCHED : METADATA) && chunks.every(isPlainChunk)
  for (const support of supports) {
    const segment = support['segment']
    const range = ranges.rangeOf(isObject(segment) ? segment : {})
    complete &&= isPlainSupport(support) && range !== undefined
    for (const index of indicesOf(support)) {
      const source = sourceOf(chunks[index])
      citedChunks.add(index)
      if (source === undefined) complete = false
      else located.push({ ...range, citation: source })
    }
  }
  for (const [index, chunk] of chunks.entries()) {
    if (citedChunks.has(index)) continue
    complete &&= hasSearched
    const source = sourceOf(chunk)
    if (source !== undefined) located.push({ citation: source })
  }
  return { citations: located, complete }
}

/** Returns the sources in grounding metadata. */
export const chunksIn = (metadata: JsonObject): readonly JsonObject[] =>
  anyObjects(metadata['groundingChunks'] ?? metadata['grounding_chunks'])

/** Returns the cited passages in grounding metadata. */
export const supportsIn = (metadata: JsonObject): readonly JsonObject[] =>
  anyObjects(metadata['groundingSupports'] ?? metadata['grounding_supports'])

/** Returns the queries in grounding metadata, or undefined if the model did not search the web. */
export function queriesIn(metadata: JsonObject): readonly string[] | undefined {
  const queries = metadata['webSearchQueries'] ?? metadata['web_search_queries']
  return Array.isArray(queries) && queries.every(query => typeof query === 'string') ? queries : undefined
}

/** Reads citation metadata. Its list has several possible names. */
export function readCitations(metadata: JsonObject, ranges: TextRanges): readonly LocatedCitation[] {
  const sources = metadata['citationSources'] ?? metadata['citations'] ?? metadata['citation_sources']
  return anyObjects(sources).flatMap(source => {
    const url = anyText(source['uri'])
    if (url === undefined) return []
    const title = anyText(source['title'])
    return [{ ...ranges.rangeOf(source), citation: { type: 'citation', url, ...defined({ title }), ...FROM_METADATA } }]
  })
}

/** Mark of a citation that the recorded metadata repeats. */
const FROM_METADATA = { spelling: { [FORMAT]: { own: true } } } as const

const METADATA = ['groundingChunks', 'groundingSupports']
const SEARCHED = [...METADATA, 'webSearchQueries']
const SUPPORT = ['segment', 'groundingChunkIndices']
const SEGMENT = ['startIndex', 'endIndex', 'text']

const hasOnly = (value: JsonObject, fields: readonly string[]): boolean =>
  Object.keys(value).every(key => fields.includes(key))

const isPlainChunk = (chunk: JsonObject): boolean =>
  hasOnly(chunk, ['web']) && isObject(chunk['web']) && hasOnly(chunk['web'], ['uri', 'title'])

const isPlainSupport = (support: JsonObject): boolean =>
  hasOnly(support, SUPPORT) && isObject(support['segment']) && hasOnly(support['segment'], SEGMENT)

const indicesOf = (support: JsonObject): readonly number[] => {
  const indices = support['groundingChunkIndices'] ?? support['grounding_chunk_indices']
  return Array.isArray(indices) ? indices.filter(index => typeof index === 'number') : []
}

/** Returns the source of a chunk: a web page, a document store or a map. */
export function sourceOf(chunk: JsonObject | undefined): Citation | undefined {
  for (const value of Object.values(chunk ?? {})) {
    if (!isObject(value)) continue
    const url = anyText(value['uri'])
    const title = anyText(value['title'])
    if (url !== undefined) return { type: 'citation', url, ...defined({ title }), ...FROM_METADATA }
  }
  return undefined
}

/** Maximum number of times that the whole text is searched for cited passages without offsets. */
const SEARCHES = 64

/** Converts byte offsets of a text to offsets in UTF-16 units. */
export class TextRanges {
  private readonly text: string
  private readonly offsets: Offsets
  /** Number of UTF-16 units that may still be scanned. */
  private budget: number

  constructor(text: string) {
    this.text = text
    this.offsets = new Offsets(text)
    this.budget = SEARCHES * text.length
  }

  /** Returns the range of a segment: its offsets if they contain its text, else the first occurrence of its text. */
  rangeOf(segment: JsonObject): { start: number; end: number } | undefined {
    const from = anyNumber(segment['startIndex'] ?? segment['start_index']) ?? 0
    const to = anyNumber(segment['endIndex'] ?? segment['end_index'])
    const quote = anyText(segment['text'])
    if (to !== undefined && from < to) {
      const range = { start: this.offsets.unitAt(from), end: this.offsets.unitAt(to) }
      if (quote === undefined || this.text.slice(range.start, range.end) === quote) return range
    }
    return quote === undefined ? undefined : this.find(quote)
  }

  private find(quote: string): { start: number; end: number } | undefined {
    if (quote === '' || this.budget <= 0) return undefined
    const start = this.text.indexOf(quote)
    this.budget -= start === -1 ? this.text.length : start + quote.length
    return start === -1 ? undefined : { start, end: start + quote.length }
  }
}

/** Range of a text part in the candidate's concatenated text, in UTF-16 units. */
export interface Range {
  readonly from: number
  readonly length: number
}

/**
 * Assigns citations to consecutive text parts, by part index. Citations without offsets are assigned to the last part.
 */
export function citationsOf(
  located: readonly LocatedCitation[],
  texts: readonly Range[],
): ReadonlyMap<number, readonly Citation[]> {
  const citations = new Map<number, Citation[]>()
  for (const { start, end, citation } of located) {
    const hasRange = start !== undefined && end !== undefined
    const index = hasRange ? lastAtOrBefore(texts, start) : texts.length - 1
    if (index === -1) continue
    const { from, length } = texts[index]!
    if (hasRange && start >= from + length) continue
    const range = hasRange ? { start: start - from, end: Math.min(end, from + length) - from } : {}
    getOrAdd(citations, index, () => []).push({ ...citation, ...range })
  }
  return citations
}
