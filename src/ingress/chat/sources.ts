import type { Citation, Part } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Candidate } from '../../canonical/result.ts'
import { anyText, defined, extrasOf } from '../fields.ts'
import { FORMAT } from './wire.ts'

/*
 * Web sources next to the choices: `citations`, a list of URLs, and `search_results` with titles and snippets
 * (docs/wire/chat.md#beyond-the-description). For callers of this format, the fields become extras of the answer. For
 * other callers, the same sources become citations of its last text.
 */

/** Spelling of a top-level citation, which the answer lists in `citations` or `search_results`. */
const TOP_LEVEL = { spelling: { [FORMAT]: { beside: true } } }

const KNOWN_FIELDS = new Set(['url', 'title', 'snippet'])

/** Returns true if an answer or a chunk lists sources. */
export const hasSources = (body: JsonObject): boolean =>
  Array.isArray(body['citations']) || Array.isArray(body['search_results'])

/**
 * Returns the sources in the order of `citations`, because numbers in the text refer to it. Other search results
 * follow.
 */
export function readSources(body: JsonObject, citedUrls: ReadonlySet<string>): readonly Citation[] {
  const sources = new Map<string, Citation>()
  for (const one of listOf(body['citations'])) {
    const url = typeof one === 'string' ? one : isObject(one) ? anyText(one['url']) : undefined
    if (url !== undefined && !citedUrls.has(url)) sources.set(url, { type: 'citation', url, ...TOP_LEVEL })
  }
  for (const one of listOf(body['search_results'])) {
    const url = isObject(one) ? anyText(one['url']) : undefined
    if (url !== undefined && !citedUrls.has(url)) sources.set(url, readResult(one as JsonObject, url))
  }
  return [...sources.values()]
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])

const readResult = (wire: JsonObject, url: string): Citation => ({
  type: 'citation',
  url,
  ...defined({ title: anyText(wire['title']), quote: anyText(wire['snippet']) || undefined }),
  ...extrasOf(FORMAT, wire, KNOWN_FIELDS),
  ...TOP_LEVEL,
})

/** Returns the URLs that the parts cite. */
const citedUrls = (content: readonly Part[]): ReadonlySet<string> =>
  new Set(
    content
      .flatMap(part => (part.type === 'text' ? (part.annotations ?? []) : []))
      .flatMap(one => (one.type === 'citation' ? one.url : [])),
  )

/** Adds the sources of a whole answer to the last text of its first choice. */
export function withSources(candidates: readonly Candidate[], body: JsonObject): readonly Candidate[] {
  const [first, ...others] = candidates
  if (first === undefined || !hasSources(body)) return candidates
  const index = first.content.findLastIndex(part => part.type === 'text')
  const part = first.content[index]
  const sources = readSources(body, citedUrls(first.content))
  if (part?.type !== 'text' || sources.length === 0) return candidates
  const annotations = [...(part.annotations ?? []), ...sources]
  return [{ ...first, content: first.content.with(index, { ...part, annotations }) }, ...others]
}
