import type { Annotation, Part } from '../../src/canonical/content.ts'
import type { ErrorKind } from '../../src/canonical/error.ts'
import type { CanonicalResult } from '../../src/canonical/result.ts'

/*
 * Where a law needs a looser look at one format, and why. Anything not named here is held to the letter.
 */

type Look = (result: CanonicalResult) => CanonicalResult

/** A chat message has fields in place of an order; a stream of its chunks still tells the order they came in. */
const CHAT_FIELDS: { readonly [T in Part['type']]: number } = {
  ...{
    reasoning: 0,
    text: 1,
    opaque: 1,
    refusal: 2,
    media: 3,
    'tool-call': 4,
    'tool-result': 5,
    embedding: 5,
    rank: 5,
  },
}

const inFieldOrder: Look = result => ({
  ...result,
  candidates: result.candidates.map(candidate => ({ ...candidate, content: oneText(fieldOrder(candidate.content)) })),
})

/** All texts of a message are one, and citations count from its beginning. */
function oneText(content: readonly Part[]): Part[] {
  const texts = content.filter(part => part.type === 'text')
  if (texts.length < 2) return [...content]
  let offset = 0
  const annotations = texts.flatMap(({ text, annotations }) => {
    const from = offset
    offset += text.length
    return (annotations ?? []).map(one => moved(one, from))
  })
  const joined: Part = { type: 'text', text: texts.map(part => part.text).join(''), annotations }
  return [
    ...content.filter(part => part.type === 'reasoning'),
    joined,
    ...content.filter(part => part.type !== 'text' && part.type !== 'reasoning'),
  ]
}

const moved = (annotation: Annotation, by: number): Annotation =>
  annotation.type === 'opaque'
    ? annotation
    : {
        ...annotation,
        ...(annotation.start === undefined ? {} : { start: annotation.start + by }),
        ...(annotation.end === undefined ? {} : { end: annotation.end + by }),
      }

function fieldOrder(content: readonly Part[]): Part[] {
  const rank = content.map((part, index) => {
    const signs =
      part.type === 'reasoning' && part.text === '' && !part.redacted && part.signature?.format === 'contents'
    return CHAT_FIELDS[signs && content[index + 1]?.type === 'tool-call' ? 'tool-call' : part.type]
  })
  return [...content.keys()].sort((a, b) => rank[a]! - rank[b]! || a - b).map(index => content[index]!)
}

const LOOKS: { readonly [format: string]: Look } = { chat: inFieldOrder }

/** How to look at an answer that came through streams of the format. */
export const streamLook = (format: string): Look => LOOKS[format] ?? (result => result)

/**
 * Kinds that are read back as another: the gateway's own failure looks to the next one like any upstream's, and some
 * formats have a coarser word.
 */
const EVERYWHERE: { readonly [K in ErrorKind]?: ErrorKind } = { internal: 'upstream-failed' }
const COARSER: { readonly [format: string]: { readonly [K in ErrorKind]?: ErrorKind } } = {}

export const readBack = (format: string, kind: ErrorKind): ErrorKind =>
  COARSER[format]?.[kind] ?? EVERYWHERE[kind] ?? kind
