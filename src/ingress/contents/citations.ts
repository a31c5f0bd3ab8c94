import type { Citation } from '../../canonical/content.ts'
import { isObject, type JsonObject } from '../../canonical/node.ts'
import { anyNumber, anyObjects, anyText, defined } from '../fields.ts'
import { FORMAT } from './fields.ts'

/** A citation of the candidate's whole text, in UTF-16 units; without a place it is of all of it. */
export interface Cited {
  readonly start?: number
  readonly end?: number
  readonly citation: Citation
}

export interface Grounding {
  readonly cited: readonly Cited[]
  /** Whether the citations say all that the metadata does. */
  readonly complete: boolean
}

/** What grounding metadata cites: its supports name chunks, by bytes of the text (trap 82). */
export function readGrounding(metadata: JsonObject, text: string): Grounding {
  const chunks = anyObjects(metadata['groundingChunks'] ?? metadata['grounding_chunks'])
  const supports = anyObjects(metadata['groundingSupports'] ?? metadata['grounding_supports'])
  const places = new Places(text)
  const named = new Set<number>()
  const cited: Cited[] = []
  let complete = hasOnly(metadata, METADATA) && chunks.every(isPlainChunk)
  for (const support of supports) {
    const segment = support['segment']
    const place = places.of(isObject(segment) ? segment : {})
    complete &&= isPlainSupport(support) && place !== undefined
    for (const index of indicesOf(support)) {
      const source = sourceOf(chunks[index])
      named.add(index)
      if (source === undefined) complete = false
      else cited.push({ ...place, citation: source })
    }
  }
  for (const [index, chunk] of chunks.entries()) {
    if (named.has(index)) continue
    complete = false
    const source = sourceOf(chunk)
    if (source !== undefined) cited.push({ citation: source })
  }
  return { cited, complete }
}

/** What citation metadata cites; the field goes by two names. */
export function readCitations(metadata: JsonObject, text: string): readonly Cited[] {
  const places = new Places(text)
  const sources = metadata['citationSources'] ?? metadata['citations'] ?? metadata['citation_sources']
  return anyObjects(sources).flatMap(source => {
    const url = anyText(source['uri'])
    if (url === undefined) return []
    const title = anyText(source['title'])
    return [{ ...places.of(source), citation: { type: 'citation', url, ...defined({ title }), ...OWN } }]
  })
}

/** The metadata beside says it too. */
const OWN = { spelling: { [FORMAT]: { own: true } } } as const

const METADATA = ['groundingChunks', 'groundingSupports']
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

/** Where a chunk comes from: the web, a store of documents, a map. */
function sourceOf(chunk: JsonObject | undefined): Citation | undefined {
  for (const value of Object.values(chunk ?? {})) {
    if (!isObject(value)) continue
    const url = anyText(value['uri'])
    const title = anyText(value['title'])
    if (url !== undefined) return { type: 'citation', url, ...defined({ title }), ...OWN }
  }
  return undefined
}

/** Byte offsets of a text as offsets of its UTF-16 units. */
class Places {
  private readonly text: string
  private bytes: Buffer | undefined

  constructor(text: string) {
    this.text = text
  }

  /** The place of a segment: its offsets where its words stand there, else where its words are found. */
  of(segment: JsonObject): { start: number; end: number } | undefined {
    const from = anyNumber(segment['startIndex'] ?? segment['start_index']) ?? 0
    const to = anyNumber(segment['endIndex'] ?? segment['end_index'])
    const words = anyText(segment['text'])
    if (to !== undefined && from < to) {
      const place = { start: this.unit(from), end: this.unit(to) }
      if (words === undefined || this.text.slice(place.start, place.end) === words) return place
    }
    return words === undefined ? undefined : this.find(words)
  }

  private find(words: string): { start: number; end: number } | undefined {
    const start = words === '' ? -1 : this.text.indexOf(words)
    return start === -1 ? undefined : { start, end: start + words.length }
  }

  private unit(offset: number): number {
    this.bytes ??= Buffer.from(this.text)
    return this.bytes.toString('utf8', 0, Math.max(0, offset)).length
  }
}

/** The citations of one text that begins `from` units into the whole and is the only one they can be of. */
export function citationsWithin(cited: readonly Cited[], from: number, length: number, last: boolean): Citation[] {
  return cited.flatMap(({ start, end, citation }) => {
    if (start === undefined || end === undefined) return last ? [citation] : []
    if (start < from || start >= from + length) return []
    return [{ ...citation, start: start - from, end: Math.min(end, from + length) - from }]
  })
}
