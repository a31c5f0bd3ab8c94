import type { Annotation, Citation } from '../../canonical/content.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import { extrasFor, spellingFor } from '../fields.ts'
import { FORMAT } from './context.ts'

/** The text that citations support, in a content block or the plan. */
export interface CitedText {
  readonly text: string
  readonly block: number | 'plan'
}

/** Writes a citation (docs/wire/cohere-chat.md#citations). Returns undefined if it belongs to another format. */
export function writeCitation(annotation: Annotation, { text, block }: CitedText): JsonObject | undefined {
  if (annotation.type === 'opaque' && annotation.format !== FORMAT) return undefined
  const wire =
    annotation.type === 'opaque' ? annotation.value : (sourceOf(annotation) ?? pageCitation(annotation, text))
  if (block === 'plan') return { ...wire, type: 'PLAN' }
  const typeField = wire['type'] === undefined ? { type: 'TEXT_CONTENT' } : {}
  return { ...wire, ...typeField, ...(block === 0 ? {} : { content_index: block }) }
}

/** Returns the wire value from which a citation was read. */
const sourceOf = (citation: Citation): JsonObject | undefined =>
  spellingFor(citation, FORMAT)['citation'] as JsonObject | undefined

/** Writes a citation of a web page as a citation of a document. The page's URL becomes the document's id. */
function pageCitation(citation: Citation, text: string): JsonObject {
  const { url, title, quote, start, end } = citation
  const document = defined({ id: url, url, title, snippet: quote })
  const citedPassage = start === undefined || end === undefined ? undefined : text.slice(start, end)
  return {
    ...defined({ start, end, text: citedPassage }),
    sources: [{ type: 'document', id: url, document }],
    ...extrasFor(citation, FORMAT),
  } as JsonObject
}
