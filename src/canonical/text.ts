/*
 * A string made with `+`, or cut out of a longer one, stays a tree of slices in the engine, and a body that holds one
 * such string is serialized three times as slowly. Ids and media of bodies are therefore made here.
 */

/** The parts as one flat string. */
export const flatJoin = (...parts: readonly (string | number)[]): string => parts.join('')

/** A flat copy of a string that was cut out of a longer one. */
export const flatCopy = (text: string): string => [text.slice(0, 1), text.slice(1)].join('')

/** UTF-16 units of a caller's text that an error repeats. */
const LONGEST_EXCERPT = 100

/** The beginning of a text that errors repeat: names of callers may be as long as a body. */
export const excerpt = (text: string, longest = LONGEST_EXCERPT): string =>
  text.length <= longest ? text : flatJoin(text.slice(0, wholeUntil(text, longest)), '…')

/** The end of the longest beginning of at most `longest` UTF-16 units that does not split a surrogate pair. */
const wholeUntil = (text: string, longest: number): number =>
  isHighSurrogate(text.charCodeAt(longest - 1)) ? longest - 1 : longest

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

/** A percent-encoded text decoded, or as it is where it is encoded in another way; flat. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return flatCopy(text)
  }
}

const BYTE_ORDER_MARK = 0xfeff

/** A text without a byte order mark in front, which has no meaning in UTF-8. */
export const withoutByteOrderMark = (text: string): string =>
  text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text

/**
 * Converts positions in a text between UTF-16 units and bytes of UTF-8. The text is walked once, however many positions
 * are converted, and not at all where every character is one unit and one byte.
 */
export class Offsets {
  private readonly text: string
  /** Bytes before each unit; undefined where units and bytes are equal in number. */
  private before: Uint32Array | undefined
  private measured = false

  constructor(text: string) {
    this.text = text
  }

  /** Bytes of the first `unit` units. */
  byteAt(unit: number): number {
    const before = this.table()
    return before === undefined ? unit : before[unit]!
  }

  /** Units of the first `byte` bytes; a character that is cut counts as one unit, as decoders count it. */
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
      if (BEYOND_ASCII.test(this.text)) this.before = measured(this.text)
    }
    return this.before
  }
}

const BEYOND_ASCII = /[\u0080-\uffff]/

function measured(text: string): Uint32Array {
  const before = new Uint32Array(text.length + 1)
  let bytes = 0
  for (let unit = 0; unit < text.length; unit++) {
    before[unit] = bytes
    const code = text.codePointAt(unit)!
    if (code > 0xffff) {
      // A lone surrogate is written as the three bytes of U+FFFD.
      before[++unit] = bytes + 3
      bytes += 4
    } else bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : 3
  }
  before[text.length] = bytes
  return before
}

/** The index of the last of the texts that begins at the place or before it; -1 where there is none. */
export function lastAtOrBefore(texts: readonly { readonly from: number }[], place: number): number {
  let low = 0
  let high = texts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (texts[middle]!.from <= place) low = middle + 1
    else high = middle
  }
  return low - 1
}
