/*
 * V8 represents a string built with `+`, or cut out of a longer string, as a tree of slices. Serializing a body that
 * contains a single such string takes three times as long. Ids and media in bodies are therefore created with these
 * functions.
 */

/** Concatenates the parts into one flat string. */
export const flatJoin = (...parts: readonly (string | number)[]): string => parts.join('')

/** Returns a flat copy of a string that was cut out of a longer string. */
export const flatCopy = (text: string): string => [text.slice(0, 1), text.slice(1)].join('')

/** Maximum length of a caller's text quoted in an error, in UTF-16 units. */
const MAX_EXCERPT_LENGTH = 100

/** Truncates a string for an error message. A caller's names may be as long as an entire body. */
export const excerpt = (text: string, maxLength = MAX_EXCERPT_LENGTH): string =>
  text.length <= maxLength ? text : flatJoin(text.slice(0, wholePrefixLength(text, maxLength)), '…')

/**
 * Returns the length of the longest prefix that has at most `maxLength` UTF-16 units and does not split a surrogate
 * pair.
 */
const wholePrefixLength = (text: string, maxLength: number): number =>
  isHighSurrogate(text.charCodeAt(maxLength - 1)) ? maxLength - 1 : maxLength

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

/** Removes all slashes at the end. A regular expression would take quadratic time for slashes in the middle. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === '/') end--
  return text.slice(0, end)
}

/**
 * Characters that change the order of the text around them, or that nobody sees: two names that differ only in these
 * look alike. Joiners are invisible beside ASCII only; other scripts and emoji need them.
 */
const HIDDEN =
  String.raw`[\p{Bidi_Control}\u200b\u2060-\u2064\ufeff\u{e0000}-\u{e007f}]` +
  String.raw`|(?<=[\x21-\x7e])[\u200c\u200d]|[\u200c\u200d](?=[\x21-\x7e])`
/** Hidden characters, control characters, which could move a terminal's cursor, and other ends of lines. */
const HIDDEN_OR_CONTROL_CHARACTERS = new RegExp(String.raw`[\p{Cc}\u2028\u2029]|${HIDDEN}`, 'gu')

/**
 * Escapes hidden and control characters and ends of lines as JSON does, so that an untrusted name can neither move a
 * terminal's cursor, begin a line, reorder the rest of its line nor look like another name.
 */
export const withEscapedControls = (text: string): string => text.replace(HIDDEN_OR_CONTROL_CHARACTERS, escaped)

const escaped = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')

/** Decodes a percent-encoded string into a flat string. A string that cannot be decoded is returned unchanged. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return flatCopy(text)
  }
}

const BYTE_ORDER_MARK = 0xfeff

/** Removes a leading byte order mark, which has no meaning in UTF-8. */
export const withoutByteOrderMark = (text: string): string =>
  text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text

/**
 * Converts offsets in a string between UTF-16 units and UTF-8 bytes. The text may grow. It is scanned once for all
 * conversions, and not at all if it is ASCII.
 */
export class Offsets {
  /** Number of bytes before each UTF-16 unit, or undefined for ASCII. May have capacity for a longer text. */
  private before: Uint32Array | undefined
  /** Number of units that `before` covers. */
  private measuredUnits = 0
  /** Text that `before` does not cover yet. */
  private pending: string
  /** The last covered unit, if it may be the first half of a pair. */
  private pendingUnit = ''

  constructor(text: string) {
    this.pending = text
  }

  /** Appends to the text. */
  append(text: string): void {
    this.pending += text
  }

  /** Number of bytes in the whole text. */
  get bytes(): number {
    const before = this.table()
    return before === undefined ? this.measuredUnits : before[this.measuredUnits]!
  }

  /** Returns the number of bytes in the first `unit` units. */
  byteAt(unit: number): number {
    const before = this.table()
    return before === undefined ? unit : before[unit]!
  }

  /**
   * Returns the number of units in the first `byte` bytes. A truncated character counts as one unit, as in decoders.
   */
  unitAt(byte: number): number {
    const before = this.table()
    const { measuredUnits: length } = this
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
    const { pending, measuredUnits } = this
    if (pending === '') return this.before
    this.pending = ''
    this.measuredUnits += pending.length
    if (this.before === undefined && !NON_ASCII.test(pending)) return undefined
    const from = measuredUnits - this.pendingUnit.length
    this.before = withCapacity(this.before, measuredUnits, this.measuredUnits + 1)
    measure(this.pendingUnit + pending, this.before, from)
    this.pendingUnit = isHighSurrogate(pending.charCodeAt(pending.length - 1)) ? pending.slice(-1) : ''
    return this.before
  }
}

const NON_ASCII = /[\u0080-\uffff]/

/** Returns a table with capacity for more units. A new table assumes ASCII, in which each unit is one byte. */
function withCapacity(table: Uint32Array | undefined, covered: number, length: number): Uint32Array {
  if (table !== undefined && table.length >= length) return table
  const larger = new Uint32Array(covered === 0 ? length : 2 * length)
  if (table === undefined) for (let unit = 0; unit <= covered; unit++) larger[unit] = unit
  else larger.set(table)
  return larger
}

/** Fills in the number of bytes before each unit of a text that starts at index `from` of the table. */
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
 * Returns the index of the last text that starts at or before the offset, or -1 if there is none. The list must be
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
