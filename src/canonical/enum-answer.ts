import type { Part } from './content.ts'
import type { At, CanonicalEvent } from './event.ts'
import type { JsonObject } from './node.ts'
import type { CanonicalResult } from './result.ts'
import { NOTHING, type Transducer } from './transducer.ts'

/*
 * Enum answers: answers restricted to one of several texts. Many upstreams only produce structured answers that are
 * objects, so the text is requested as the field of an object and unwrapped on the way back (trap 112).
 */

/** Returns the schema of an object whose only field is one text of the enum. */
export const enumInObject = ({ type, enum: values, title, description }: JsonObject): JsonObject => ({
  type: 'object',
  properties: {
    value: {
      ...{ type: type!, enum: values! },
      ...(title === undefined ? {} : { title }),
      ...(description === undefined ? {} : { description }),
    },
  },
  required: ['value'],
  additionalProperties: false,
})

/** Unwraps the texts of an answer. A text that is not such an object stays as it is. */
export const unwrapResult = (result: CanonicalResult): CanonicalResult => ({
  ...result,
  candidates: result.candidates.map(candidate => ({ ...candidate, content: candidate.content.map(unwrapPart) })),
})

function unwrapPart(part: Part): Part {
  if (part.type !== 'text') return part
  const text = new ValueReader()
  const value = text.push(part.text) + text.end()
  return value === part.text ? part : { ...part, text: value }
}

/** Unwraps the texts of a streamed answer, chunk by chunk. */
export class EnumEvents implements Transducer<CanonicalEvent, CanonicalEvent> {
  private readonly texts = new Map<string, ValueReader>()

  push(event: CanonicalEvent): readonly CanonicalEvent[] {
    switch (event.type) {
      case 'part-start':
        if (event.part.type === 'text') this.texts.set(keyOf(event.at), new ValueReader())
        return [event]
      case 'part-delta': {
        const text = event.of === undefined ? this.texts.get(keyOf(event.at)) : undefined
        return text === undefined ? [event] : delta(event.at, text.push(event.append))
      }
      case 'part-end':
        return [...delta(event.at, this.texts.get(keyOf(event.at))?.end() ?? ''), event]
      default:
        return [event]
    }
  }

  end(): readonly CanonicalEvent[] {
    return NOTHING
  }
}

const delta = (at: At, append: string): readonly CanonicalEvent[] =>
  append === '' ? NOTHING : [{ type: 'part-delta', at, append }]

const keyOf = (at: At): string => `${at.candidate}/${at.part}`

const OPENING = '{"value":"'
/** Indexes in `OPENING` before which white space is allowed. */
const GAPS: ReadonlySet<number> = new Set([0, 1, 8, 9])
const SPACE: ReadonlySet<string> = new Set([' ', '\n', '\r', '\t'])
const ESCAPES: { readonly [letter: string]: string } = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }
const HEX = /^[0-9a-fA-F]$/

/**
 * Reads the text in `{"value": text}` from chunks that may end anywhere. Any other text passes unchanged, and the rest
 * of the object after the value is skipped. Never throws: an invalid escape is taken literally.
 */
class ValueReader {
  private state: 'opening' | 'value' | 'over' | 'bare' = 'opening'
  /** The number of characters of `OPENING` matched so far, and the input they matched, white space included. */
  private matched = 0
  private held = ''
  /** The start of an escape sequence that is not complete. */
  private escape = ''
  /** A high surrogate that waits for its low surrogate; the two must not be sent in separate chunks. */
  private half = ''

  push(piece: string): string {
    if (this.state === 'bare') return piece
    let out = ''
    for (let index = 0; index < piece.length; index++) {
      if (this.state === 'over') return out
      if (this.state === 'value') out += this.read(piece[index]!)
      else if (!this.opens(piece[index]!)) return this.bare(piece.slice(index))
    }
    return out
  }

  /** Returns the buffered remainder of a text that ends early. */
  end(): string {
    const rest = this.held + this.half + this.escape
    this.held = this.half = this.escape = ''
    return rest
  }

  private opens(char: string): boolean {
    if (char === OPENING[this.matched]) this.matched++
    else if (!SPACE.has(char) || !GAPS.has(this.matched)) return false
    this.held += char
    if (this.matched < OPENING.length) return true
    this.state = 'value'
    this.held = ''
    return true
  }

  private bare(rest: string): string {
    this.state = 'bare'
    return this.end() + rest
  }

  private read(char: string): string {
    if (this.escape !== '') return this.unescape(char)
    if (char === '\\') this.escape = char
    else if (char === '"') {
      this.state = 'over'
      return this.end()
    } else return this.unit(char)
    return ''
  }

  private unescape(char: string): string {
    const { escape: begun } = this
    if (begun === '\\' && char !== 'u') {
      this.escape = ''
      return this.unit(ESCAPES[char] ?? char)
    }
    if (begun !== '\\' && !HEX.test(char)) {
      this.escape = ''
      return this.end() + begun + this.read(char)
    }
    this.escape += char
    if (this.escape.length < '\\u0000'.length) return ''
    this.escape = ''
    return this.unit(String.fromCharCode(Number.parseInt(begun.slice(2) + char, 16)))
  }

  /** Returns a UTF-16 unit together with the high surrogate that waited for it. */
  private unit(unit: string): string {
    const { half } = this
    this.half = ''
    if (!isFirstHalf(unit)) return half + unit
    this.half = unit
    return half
  }
}

const isFirstHalf = (unit: string): boolean => unit >= '\ud800' && unit <= '\udbff'
