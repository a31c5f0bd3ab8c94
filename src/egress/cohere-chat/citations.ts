import type { Annotation, Citation } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import { extrasFor, spellingFor } from '../fields.ts'
import { requiredFields } from '../openai-answer.ts'
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

/**
 * Writes a citation of a web page as a citation of a document. The page's URL becomes the document's id. Clients demand
 * the place and the text of the citation, and the title and the text of the document.
 */
function pageCitation(citation: Citation, text: string): JsonObject {
  const { url, quote } = citation
  const { title, start, end } = requiredFields(citation)
  const passage = text.slice(start, end)
  const document = { id: url, url, title, text: quote ?? passage, ...defined({ snippet: quote }) }
  return {
    ...{ start, end, text: passage, sources: [{ type: 'document', id: url, document }] },
    ...extrasFor(citation, FORMAT),
  } as JsonObject
}

/** Reports the fields of a citation that were filled in because clients demand them. */
export function reportFilled(annotation: Annotation, path: Path, losses: Losses): void {
  if (annotation.type === 'opaque' || sourceOf(annotation) !== undefined) return
  const required = requiredFields(annotation)
  for (const field of ['title', 'start', 'end'] as const)
    if (annotation[field] === undefined) losses.add([...path, field], required[field], 'minted-where-required')
}
