import type { Annotation, Citation, TextPart } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import { defined, type JsonObject } from '../../canonical/node.ts'
import { extrasFor } from '../fields.ts'
import { type Block, FORMAT, type WriteContext } from './context.ts'

/** Writes a text with its citations. Only assistant texts have citations. */
export function citedText(part: TextPart, path: Path, hasCitations: boolean, { losses }: WriteContext): Block {
  const { annotations = [] } = part
  if (annotations.length > 0 && !hasCitations) losses.drop([...path, 'annotations'], 'no-citations-here')
  return textBlock(part, hasCitations ? writeCitations(annotations, path, losses) : [])
}

/** Returns the block of a text: with citations and the format's extras, or just plain text. */
export function textBlock(part: TextPart, citations: readonly JsonObject[]): Block {
  const extras = extrasFor(part, FORMAT)
  if (citations.length === 0 && Object.keys(extras).length === 0) return { text: part.text }
  const citationFields = citations.length === 0 ? {} : { citations }
  return { citationsContent: { content: [{ text: part.text }], ...citationFields, ...extras } }
}

/** Writes citations and reports their losses. Citations of other formats are reported elsewhere. */
export function writeCitations(annotations: readonly Annotation[], path: Path, losses: Losses): readonly JsonObject[] {
  return annotations.flatMap((annotation, index): readonly JsonObject[] => {
    const written = writeAnnotation(annotation)
    if (annotation.type === 'opaque') return written === undefined ? [] : [written]
    const at = [...path, 'annotations', index]
    losses.dropFields(annotation, at, { start: 'no-places-in-the-text', end: 'no-places-in-the-text' })
    if (annotation.quote === '') losses.dropRestored([...at, 'quote'], 'nothing-quoted')
    return [written!]
  })
}

/** Writes an annotation. Returns undefined if it belongs to another format. */
export const writeAnnotation = (annotation: Annotation): JsonObject | undefined =>
  annotation.type === 'citation'
    ? writeCitation(annotation)
    : annotation.format === FORMAT
      ? annotation.value
      : undefined

const writeCitation = ({ url, title, quote, ...node }: Citation): JsonObject =>
  ({
    ...defined({
      title,
      sourceContent: quote === undefined || quote === '' ? undefined : [{ text: quote }],
      location: { web: { url } },
    }),
    ...extrasFor(node, FORMAT),
  }) as JsonObject
