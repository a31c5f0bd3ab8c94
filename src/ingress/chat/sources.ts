import type { Citation, Part } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import type { Candidate } from '../../canonical/result.ts'
import { anyText, defined, extrasOf } from '../fields.ts'
import { FORMAT } from './wire.ts'

/*
 * Web sources beside the choices: `citations`, a list of URLs, and `search_results` with titles and snippets
 * (docs/wire/chat.md#beyond-the-description). The fields stay extras of the answer, for callers of this format; for the
 * others the same sources are citations of its last text.
 */

/** Marks a citation that the answer also has in its own fields. */
const BESIDE = { spelling: { [FORMAT]: { beside: true } } }

const KNOWN = new Set(['url', 'title', 'snippet'])

/** Whether an answer or a chunk has such a field. */
export const hasSources = (body: JsonObject): boolean =>
  Array.isArray(body['citations']) || Array.isArray(body['search_results'])

/** The sources in the order of `citations`, to which numbers in the text refer; other search results come after them. */
export function readSources(body: JsonObject, seen: ReadonlySet<string>): readonly Citation[] {
  const sources = new Map<string, Citation>()
  for (const one of listOf(body['citations'])) {
    const url = typeof one === 'string' ? one : isObject(one) ? anyText(one['url']) : undefined
    if (url !== undefined && !seen.has(url)) sources.set(url, { type: 'citation', url, ...BESIDE })
  }
  for (const one of listOf(body['search_results'])) {
    const url = isObject(one) ? anyText(one['url']) : undefined
    if (url !== undefined && !seen.has(url)) sources.set(url, readResult(one as JsonObject, url))
  }
  return [...sources.values()]
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])

const readResult = (wire: JsonObject, url: string): Citation => ({
  type: 'citation',
  url,
  ...defined({ title: anyText(wire['title']), quote: anyText(wire['snippet']) || undefined }),
  ...extrasOf(FORMAT, wire, KNOWN),
  ...BESIDE,
})

/** The URLs that the parts cite. */
const cited = (content: readonly Part[]): ReadonlySet<string> =>
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
  const sources = readSources(body, cited(first.content))
  if (part?.type !== 'text' || sources.length === 0) return candidates
  const annotations = [...(part.annotations ?? []), ...sources]
  return [{ ...first, content: first.content.with(index, { ...part, annotations }) }, ...others]
}
