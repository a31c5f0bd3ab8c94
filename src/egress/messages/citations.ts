import type { Annotation, Citation, TextPart } from '../../canonical/content.ts'
import type { Path } from '../../canonical/loss.ts'
import type { Json, JsonObject } from '../../canonical/node.ts'
import { kept } from '../fields.ts'
import { FORMAT, type WriteContext } from './context.ts'

/** The citations of an earlier text: the upstream refuses them without its own proof. */
export function writeCitations(part: TextPart, path: Path, { losses }: WriteContext): { citations?: Json } {
  if (part.annotations === undefined) return {}
  const citations = part.annotations.flatMap((annotation, index): JsonObject[] => {
    if (annotation.type === 'opaque') return annotation.format === FORMAT ? [annotation.value] : []
    if (isProved(annotation)) return [writeCitation(annotation)]
    losses.hide([...path, 'annotations', index], 'citation-without-proof')
    return []
  })
  return citations.length > 0 ? { citations } : {}
}

const isProved = (citation: Citation): boolean => citation.extras?.[FORMAT]?.['encrypted_index'] !== undefined

/** A web citation; fields that the format requires and another lacks are empty. */
export function writeCitation(citation: Citation): JsonObject {
  return {
    type: 'web_search_result_location',
    url: citation.url,
    cited_text: citation.quote ?? '',
    title: citation.title ?? null,
    encrypted_index: '',
    ...kept(citation, FORMAT),
  }
}

/** The annotation in this format, or undefined where it belongs to another. */
export const writeAnnotation = (annotation: Annotation): JsonObject | undefined =>
  annotation.type === 'citation'
    ? writeCitation(annotation)
    : annotation.format === FORMAT
      ? annotation.value
      : undefined
