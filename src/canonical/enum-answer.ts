import type { TextChange } from './changed-texts.ts'
import type { JsonObject } from './node.ts'

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
export class ValueReader implements TextChange {
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
