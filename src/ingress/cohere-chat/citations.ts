import type { Annotation, Part, TextPart } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { anyNumber, anyObject, anyObjects, anyText, defined } from '../fields.ts'
import { FORMAT } from './wire.ts'

/** Texts of an answer that citations may refer to. In a stream, only the texts so far. */
export interface CitedTexts {
  /** Returns the index of the part that was read from a content block, or undefined if the part is not a text. */
  blockAt(index: number): number | undefined
  /** Indexes of the first text and of the plan among the parts. */
  readonly first: number | undefined
  readonly plan: number | undefined
}

/** Type of citations in reasoning. Canonical reasoning has no citations. */
const IN_REASONING = 'THINKING_CONTENT'
const IN_PLAN = 'PLAN'
const IN_TEXT = 'TEXT_CONTENT'

/**
 * Returns the index of the text that a citation refers to: the plan, the named content block, or the first text
 * (docs/wire/cohere-chat.md#citations), or undefined if there is no such text.
 */
export function citedPart(wire: JsonObject, texts: CitedTexts): number | undefined {
  const { type, content_index: index } = wire
  if (type === IN_REASONING) return undefined
  if (type === IN_PLAN) return texts.plan
  return typeof index === 'number' ? texts.blockAt(index) : texts.first
}

/** Adds each citation to the text that it refers to. Returns citations without a text separately. */
export function withCitations(
  content: readonly Part[],
  wire: readonly JsonObject[],
): { readonly content: readonly Part[]; readonly unplaced: readonly JsonObject[] } {
  if (wire.length === 0) return { content, unplaced: [] }
  const isPlan = (part: Part | undefined): boolean => part?.spelling?.[FORMAT]?.['plan'] === true
  const indexOf = (matches: (part: Part) => boolean): number | undefined => {
    const index = content.findIndex(part => part.type === 'text' && matches(part))
    return index === -1 ? undefined : index
  }
  const texts: CitedTexts = {
    blockAt: index => (content[index]?.type === 'text' && !isPlan(content[index]) ? index : undefined),
    first: indexOf(part => !isPlan(part)),
    plan: indexOf(isPlan),
  }
  const citationsByPart = new Map<number, Annotation[]>()
  const unplaced: JsonObject[] = []
  for (const citation of wire) {
    const part = citedPart(citation, texts)
    if (part === undefined) unplaced.push(citation)
    else if (citationsByPart.has(part)) citationsByPart.get(part)!.push(readCitation(citation))
    else citationsByPart.set(part, [readCitation(citation)])
  }
  const annotatedContent = content.map((part, index) => {
    const annotations = citationsByPart.get(index)
    return annotations === undefined ? part : { ...(part as TextPart), annotations }
  })
  return { content: annotatedContent, unplaced }
}

/**
 * Reads a citation of a document with a URL. A citation of any other source becomes opaque, without the fields that
 * identify the cited text.
 */
export function readCitation(wire: JsonObject): Annotation {
  const document = anyObjects(wire['sources']).map(documentIn).find(isPage)
  if (document === undefined) return { type: 'opaque', format: FORMAT, value: unplacedCitation(wire) }
  const { url, title, snippet } = document
  return {
    type: 'citation',
    url: url as string,
    ...defined({
      title: anyText(title),
      quote: anyText(snippet),
      start: anyNumber(wire['start']),
      end: anyNumber(wire['end']),
    }),
    spelling: { [FORMAT]: { citation: unplacedCitation(wire) } },
  }
}

const documentIn = ({ type, document }: JsonObject): JsonObject | undefined =>
  type === 'document' ? anyObject(document) : undefined

const isPage = (document: JsonObject | undefined): boolean => isObject(document) && typeof document['url'] === 'string'

/** Returns the citation without its content index and default type. */
function unplacedCitation(wire: JsonObject): JsonObject {
  const fields: { [field: string]: Json } = { ...wire }
  delete fields['content_index']
  if (fields['type'] === IN_TEXT || fields['type'] === IN_PLAN) delete fields['type']
  return fields
}
