/*
 * V8 represents a string made with `+`, or cut out of a longer string, as a tree of slices. Serializing a body with one
 * such string takes three times as long. Ids and media of bodies are therefore made with these functions.
 */

/** Concatenates the parts into one flat string. */
export const flatJoin = (...parts: readonly (string | number)[]): string => parts.join('')

/** Returns a flat copy of a string that was cut out of a longer one. */
export const flatCopy = (text: string): string => [text.slice(0, 1), text.slice(1)].join('')

/** Maximum length of a caller's text that an error repeats, in UTF-16 units. */
const MAX_EXCERPT_LENGTH = 100

/** Truncates a string for an error message. Callers' names may be as long as a body. */
export const excerpt = (text: string, maxLength = MAX_EXCERPT_LENGTH): string =>
  text.length <= maxLength ? text : flatJoin(text.slice(0, wholeUntil(text, maxLength)), '…')

/**
 * Returns the end of the longest beginning of at most `maxLength` UTF-16 units that does not split a surrogate pair.
 */
const wholeUntil = (text: string, maxLength: number): number =>
  isHighSurrogate(text.charCodeAt(maxLength - 1)) ? maxLength - 1 : maxLength

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

/** Decodes a percent-encoded string into a flat string. A string that does not decode is returned as it is. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return flatCopy(text)
  }
}

const BYTE_ORDER_MARK = 0xfeff

/** Removes a byte order mark from the start of a string, where it has no meaning in UTF-8. */
export const withoutByteOrderMark = (text: string): string =>
  text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text

/**
 * Converts offsets in a string between UTF-16 units and UTF-8 bytes. The text is walked once for all conversions, and
 * not at all if it is ASCII.
 */
export class Offsets {
  private readonly text: string
  /** Number of bytes before each UTF-16 unit. Undefined for ASCII. */
  private before: Uint32Array | undefined
  private measured = false

  constructor(text: string) {
    this.text = text
  }

  /** Returns the number of bytes of the first `unit` units. */
  byteAt(unit: number): number {
    const before = this.table()
    return before === undefined ? unit : before[unit]!
  }

  /**
   * Returns the number of units of the first `byte` bytes. A character that is cut counts as one unit, as decoders
   * count it.
   */
  unitAt(byte: number): number {
    const before = this.table()
    const { length } = this.text
    const wanted = Math.max(0, Math.trunc(byte))
    if (before === undefined) return Math.min(wanted, length)
    if (wanted >= before[length]!) return length
    let low = 0
    let high = length
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (before[middle]! <= wanted) low = middle
      else high = middle - 1
    }
    return before[low] === wanted ? low : low + 1
  }

  private table(): Uint32Array | undefined {
    if (!this.measured) {
      this.measured = true
      if (BEYOND_ASCII.test(this.text)) this.before = byteOffsets(this.text)
    }
    return this.before
  }
}

const BEYOND_ASCII = /[\u0080-\uffff]/

function byteOffsets(text: string): Uint32Array {
  const before = new Uint32Array(text.length + 1)
  let bytes = 0
  for (let unit = 0; unit < text.length; unit++) {
    before[unit] = bytes
    const code = text.codePointAt(unit)!
    if (code > 0xffff) {
      // A lone surrogate is encoded as U+FFFD, which has three bytes.
      before[++unit] = bytes + 3
      bytes += 4
    } else bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : 3
  }
  before[text.length] = bytes
  return before
}

/**
 * Returns the index of the last text that starts at the offset or before it; -1 if there is none. The list must be
 * sorted.
 */
export function lastAtOrBefore(texts: readonly { readonly from: number }[], offset: number): number {
  let low = 0
  let high = texts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (texts[middle]!.from <= offset) low = middle + 1
    else high = middle
  }
  return low - 1
}
