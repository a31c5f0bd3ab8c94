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
 * Converts offsets in a string between UTF-16 units and UTF-8 bytes. The text may grow. It is walked once for all
 * conversions, and not at all if it is ASCII.
 */
export class Offsets {
  /** Number of bytes before each UTF-16 unit. Undefined for ASCII. May have room for a longer text. */
  private before: Uint32Array | undefined
  /** Number of units that `before` covers, and the text after them. */
  private measured = 0
  private pending: string
  /** The last covered unit, if it may be the first half of a pair. */
  private half = ''

  constructor(text: string) {
    this.pending = text
  }

  /** Adds to the end of the text. */
  append(text: string): void {
    this.pending += text
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
    const { measured: length } = this
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
    const { pending, measured } = this
    if (pending === '') return this.before
    this.pending = ''
    this.measured += pending.length
    if (this.before === undefined && !BEYOND_ASCII.test(pending)) return undefined
    const from = measured - this.half.length
    this.before = withRoom(this.before, measured, this.measured + 1)
    measure(this.half + pending, this.before, from)
    this.half = isHighSurrogate(pending.charCodeAt(pending.length - 1)) ? pending.slice(-1) : ''
    return this.before
  }
}

const BEYOND_ASCII = /[\u0080-\uffff]/

/** Returns a table with room for more units. The first table covers ASCII, whose units are bytes. */
function withRoom(table: Uint32Array | undefined, covered: number, length: number): Uint32Array {
  if (table !== undefined && table.length >= length) return table
  const larger = new Uint32Array(covered === 0 ? length : 2 * length)
  if (table === undefined) for (let unit = 0; unit <= covered; unit++) larger[unit] = unit
  else larger.set(table)
  return larger
}

/** Enters the number of bytes before each unit of a text that begins at an index of the table. */
function measure(text: string, before: Uint32Array, from: number): void {
  let bytes = before[from]!
  for (let unit = 0; unit < text.length; unit++) {
    before[from + unit] = bytes
    const code = text.codePointAt(unit)!
    if (code > 0xffff) {
      // A lone surrogate is encoded as U+FFFD, which has three bytes.
      before[from + ++unit] = bytes + 3
      bytes += 4
    } else bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : 3
  }
  before[from + text.length] = bytes
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
