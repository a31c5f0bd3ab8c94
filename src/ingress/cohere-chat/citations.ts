import type { Annotation, Part, TextPart } from '../../canonical/content.ts'
import { isObject, type Json, type JsonObject } from '../../canonical/node.ts'
import { anyNumber, anyObject, anyObjects, anyText, defined } from '../fields.ts'
import { FORMAT } from './wire.ts'

/** Where the texts of an answer are that citations may support, so far. */
export interface CitedTexts {
  /** Returns the index of the part that a content block was read as. Undefined if it is no text. */
  blockAt(index: number): number | undefined
  /** The part of the first text, and that of the plan. */
  readonly first: number | undefined
  readonly plan: number | undefined
}

/** Type of a citation in the reasoning, which cannot have citations in the canonical model. */
const IN_REASONING = 'THINKING_CONTENT'
const IN_PLAN = 'PLAN'
const IN_TEXT = 'TEXT_CONTENT'

/**
 * Returns the index of the text that a citation supports: the plan, the content block that it names, or the first text
 * (docs/wire/cohere-chat.md#citations). Undefined if there is none.
 */
export function citedPart(wire: JsonObject, texts: CitedTexts): number | undefined {
  const { type, content_index: index } = wire
  if (type === IN_REASONING) return undefined
  if (type === IN_PLAN) return texts.plan
  return typeof index === 'number' ? texts.blockAt(index) : texts.first
}

/** Adds citations to the texts that they support. Returns those of no text apart. */
export function withCitations(
  content: readonly Part[],
  wire: readonly JsonObject[],
): { readonly content: readonly Part[]; readonly unplaced: readonly JsonObject[] } {
  if (wire.length === 0) return { content, unplaced: [] }
  const isPlan = (part: Part | undefined): boolean => part?.spelling?.[FORMAT]?.['plan'] === true
  const indexOf = (found: (part: Part) => boolean): number | undefined => {
    const index = content.findIndex(part => part.type === 'text' && found(part))
    return index === -1 ? undefined : index
  }
  const texts: CitedTexts = {
    blockAt: index => (content[index]?.type === 'text' && !isPlan(content[index]) ? index : undefined),
    first: indexOf(part => !isPlan(part)),
    plan: indexOf(isPlan),
  }
  const cited = new Map<number, Annotation[]>()
  const unplaced: JsonObject[] = []
  for (const citation of wire) {
    const part = citedPart(citation, texts)
    if (part === undefined) unplaced.push(citation)
    else if (cited.has(part)) cited.get(part)!.push(readCitation(citation))
    else cited.set(part, [readCitation(citation)])
  }
  const annotated = content.map((part, index) => {
    const annotations = cited.get(index)
    return annotations === undefined ? part : { ...(part as TextPart), annotations }
  })
  return { content: annotated, unplaced }
}

/**
 * Reads a citation of a document with a URL. One of other sources becomes opaque, without the fields that say which text
 * it is of.
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

/** Returns the citation without its content block, and without its usual type. */
function unplacedCitation(wire: JsonObject): JsonObject {
  const fields: { [field: string]: Json } = { ...wire }
  delete fields['content_index']
  if (fields['type'] === IN_TEXT || fields['type'] === IN_PLAN) delete fields['type']
  return fields
}
