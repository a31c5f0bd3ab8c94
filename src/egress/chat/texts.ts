import type { Annotation, Citation, TextPart } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { JsonObject } from '../../canonical/node.ts'
import { defined } from '../fields.ts'
import { requiredFields, writeAnnotation } from './answer.ts'
import { FORMAT } from './content.ts'

interface Placed {
  readonly part: TextPart
  readonly path: Path
  /** Offset in the single text of the message. */
  readonly offset: number
}

/** All texts of an answer, as the single text of a message; citations are offsets into it. */
export class Texts {
  private readonly list: Placed[] = []
  private length = 0

  get some(): boolean {
    return this.list.length > 0
  }

  add(part: TextPart, path: Path): void {
    this.list.push({ part, path, offset: this.length })
    this.length += part.text.length
  }

  joined(losses: Losses): { readonly text: string; readonly annotations: readonly JsonObject[] } {
    const text = this.list.map(({ part }) => part.text).join('')
    const cited = this.list.flatMap(({ part, offset }) => (part.annotations ?? []).map(one => ({ one, offset })))
    if (this.list.length > 1 && cited.length > 0) this.reportJoin(text, losses)
    else this.reportQuotes(losses)
    return {
      text,
      annotations: cited.map(({ one, offset }) => writeAnnotation(one, offset)).filter(one => one !== undefined),
    }
  }

  /** Joining plain texts is no loss; joining a text with citations changes it. */
  private reportJoin(text: string, losses: Losses): void {
    const [first, ...others] = this.list
    const annotations = this.list.flatMap(({ part, offset }) =>
      (part.annotations ?? []).flatMap(one => readBack(one, offset) ?? []),
    )
    const became = { type: 'text', text, ...(annotations.length === 0 ? {} : { annotations }) }
    losses.change(first!.path, became, 'one-text-only')
    for (const { path } of others) losses.drop(path, 'one-text-only')
  }

  private reportQuotes(losses: Losses): void {
    for (const { part, path } of this.list)
      part.annotations?.forEach((annotation, index) => {
        if (annotation.type === 'citation') reportCitation(annotation, [...path, 'annotations', index], losses)
      })
  }
}

function reportCitation(citation: Citation, path: Path, losses: Losses): void {
  if (citation.quote !== undefined) losses.drop([...path, 'quote'], 'no-quotes')
  const fields = requiredFields(citation)
  for (const field of ['title', 'start', 'end'] as const)
    if (citation[field] !== fields[field]) losses.add([...path, field], fields[field], 'minted-where-required')
}

/** The annotation as it is read from the joined text. */
function readBack(annotation: Annotation, offset: number): Annotation | undefined {
  if (annotation.type === 'opaque') return annotation.format === FORMAT ? annotation : undefined
  const { quote: _, extras, ...rest } = annotation
  const { title, start, end } = requiredFields(annotation)
  const own = extras?.[FORMAT]
  const shift = (index: number | undefined) => (index === undefined ? undefined : index + offset)
  return {
    ...rest,
    ...defined({ title, start: shift(start), end: shift(end) }),
    ...(own === undefined ? {} : { extras: { [FORMAT]: own } }),
  }
}
