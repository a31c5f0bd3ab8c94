import type { Annotation } from '../../canonical/content.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { anyText, defined, left, objects } from '../fields.ts'

const FORMAT = 'messages'

/** The citations of a text block. */
export const readCitations = (wire: Json | undefined): readonly Annotation[] | undefined =>
  objects(wire)?.map(readCitation)

const CITATION = new Set(['type', 'url', 'title', 'cited_text'])
const CITATION_UNPROVED = new Set([...CITATION, 'encrypted_index'])

/** A place on the web is a canonical citation; places in the caller's own documents stay opaque. */
export function readCitation(wire: JsonObject): Annotation {
  const url = anyText(wire['url'])
  const quote = wire['cited_text']
  const title = wire['title'] ?? undefined
  if (wire['type'] !== 'web_search_result_location' || url === undefined || !isText(quote) || !isText(title))
    return { type: 'opaque', format: FORMAT, value: wire }
  return {
    type: 'citation',
    url,
    ...defined({ title, quote: quote === '' ? undefined : quote }),
    ...left(FORMAT, wire, wire['encrypted_index'] === '' ? CITATION_UNPROVED : CITATION),
  }
}

const isText = (value: Json | undefined): value is string | undefined =>
  value === undefined || typeof value === 'string'
