import type { Part } from './content.ts'
import type { CanonicalEvent, PartPosition } from './event.ts'
import type { JsonObject } from './node.ts'
import type { CanonicalResult } from './result.ts'
import { NOTHING, type Transducer } from './transducer.ts'

/*
 * Enum answers: answers restricted to one of several strings. Many upstreams only support objects as structured
 * answers, so the string is requested as a field of an object and unwrapped on the response path (trap 112).
 */

/** Returns an object schema whose only field is a string of the enum. */
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

/** Unwraps the text parts of an answer. Other text is unchanged. */
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

/** Unwraps the text parts of a streamed answer, chunk by chunk. */
export class EnumEvents implements Transducer<CanonicalEvent, CanonicalEvent> {
  private readonly texts = new Map<string, ValueReader>()

  push(event: CanonicalEvent): readonly CanonicalEvent[] {
    switch (event.type) {
      case 'part-start':
        if (event.part.type === 'text') this.texts.set(keyOf(event.at), new ValueReader())
        return [event]
      case 'part-delta': {
        const text = event.of === undefined ? this.texts.get(keyOf(event.at)) : undefined
        return text === undefined ? [event] : deltaEvents(event.at, text.push(event.append))
      }
      case 'part-end':
        return [...deltaEvents(event.at, this.texts.get(keyOf(event.at))?.end() ?? ''), event]
      default:
        return [event]
    }
  }

  end(): readonly CanonicalEvent[] {
    return NOTHING
  }
}

const deltaEvents = (at: PartPosition, append: string): readonly CanonicalEvent[] =>
  append === '' ? NOTHING : [{ type: 'part-delta', at, append }]

const keyOf = (at: PartPosition): string => `${at.candidate}/${at.part}`

const OBJECT_OPENING = '{"value":"'
/** Indexes in `OBJECT_OPENING` before which white space is allowed. */
const SPACE_POSITIONS: ReadonlySet<number> = new Set([0, 1, 8, 9])
const WHITE_SPACE: ReadonlySet<string> = new Set([' ', '\n', '\r', '\t'])
const ESCAPES: { readonly [letter: string]: string } = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }
const HEX = /^[0-9a-fA-F]$/

/**
 * Reads the text in `{"value": text}` from chunks that may end anywhere. Any other text passes unchanged, and the rest
 * of the object after the value is skipped. Never throws: invalid escapes are treated as literal text.
 */
class ValueReader {
  private state: 'opening' | 'value' | 'over' | 'bare' = 'opening'
  /** Number of characters of `OBJECT_OPENING` matched so far. */
  private matchedLength = 0
  /** The matched input, including white space. */
  private consumedInput = ''
  /** Start of an incomplete escape sequence. */
  private partialEscape = ''
  /** High surrogate waiting for its low surrogate. The two must not be sent in separate chunks. */
  private highSurrogate = ''

  push(chunk: string): string {
    if (this.state === 'bare') return chunk
    let out = ''
    for (let index = 0; index < chunk.length; index++) {
      if (this.state === 'over') return out
      if (this.state === 'value') out += this.read(chunk[index]!)
      else if (!this.matchOpening(chunk[index]!)) return this.passThrough(chunk.slice(index))
    }
    return out
  }

  /** Returns the text still buffered when the input ends early. */
  end(): string {
    const rest = this.consumedInput + this.highSurrogate + this.partialEscape
    this.consumedInput = this.highSurrogate = this.partialEscape = ''
    return rest
  }

  private matchOpening(char: string): boolean {
    if (char === OBJECT_OPENING[this.matchedLength]) this.matchedLength++
    else if (!WHITE_SPACE.has(char) || !SPACE_POSITIONS.has(this.matchedLength)) return false
    this.consumedInput += char
    if (this.matchedLength < OBJECT_OPENING.length) return true
    this.state = 'value'
    this.consumedInput = ''
    return true
  }

  private passThrough(rest: string): string {
    this.state = 'bare'
    return this.end() + rest
  }

  private read(char: string): string {
    if (this.partialEscape !== '') return this.unescape(char)
    if (char === '\\') this.partialEscape = char
    else if (char === '"') {
      this.state = 'over'
      return this.end()
    } else return this.withHighSurrogate(char)
    return ''
  }

  private unescape(char: string): string {
    const { partialEscape: sequence } = this
    if (sequence === '\\' && char !== 'u') {
      this.partialEscape = ''
      return this.withHighSurrogate(ESCAPES[char] ?? char)
    }
    if (sequence !== '\\' && !HEX.test(char)) {
      this.partialEscape = ''
      return this.end() + sequence + this.read(char)
    }
    this.partialEscape += char
    if (this.partialEscape.length < '\\u0000'.length) return ''
    this.partialEscape = ''
    return this.withHighSurrogate(String.fromCharCode(Number.parseInt(sequence.slice(2) + char, 16)))
  }

  /** Returns a UTF-16 unit, preceded by the high surrogate that was waiting for it. */
  private withHighSurrogate(unit: string): string {
    const { highSurrogate } = this
    this.highSurrogate = ''
    if (!isHighSurrogate(unit)) return highSurrogate + unit
    this.highSurrogate = unit
    return highSurrogate
  }
}

const isHighSurrogate = (unit: string): boolean => unit >= '\ud800' && unit <= '\udbff'
