import { textIn } from './body.ts'
import type { Edit } from './splice.ts'

/** Minimum length of base64 whose content is searched, in characters. */
const MIN_RUN_LENGTH = 16
/** Minimum length of base64 whose binary content is searched, in characters. Words also decode to binary. */
const MIN_BINARY_LENGTH = 64
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'
const PRINTABLE = /^[^\p{Cc}\p{Cs}]*$/u

/** Functions that redact the content of base64. */
export interface ContentRedaction {
  /** Redacts a content and the base64 inside it. */
  nested(content: string): string
  /** Redacts a content alone. */
  plain(content: string): string
}

/** Redacts the content of base64 inside a text. Changed content is encoded again in the same alphabet. */
export function base64Edits(text: string, redaction: ContentRedaction): readonly Edit[] {
  const edits: Edit[] = []
  for (let at = nextRun(text, 0); at >= 0; ) {
    const end = endOfRun(text, at + MIN_RUN_LENGTH)
    const run = text.slice(at, endOfPadding(text, end))
    const edit = editOf(run, redaction)
    if (edit !== undefined) edits.push({ start: at + edit.start, end: at + run.length, text: edit.text })
    at = nextRun(text, end)
  }
  return edits
}

/** Values of the characters of base64, in both alphabets, by character code. -1 for any other character. */
const VALUES = new Int8Array(2 ** 16).fill(-1)
for (const alphabet of ['+/', '-_'])
  for (const [value, character] of [...`${LETTERS}${DIGITS}${alphabet}`].entries())
    VALUES[character.charCodeAt(0)] = value

const valueAt = (text: string, at: number): number => VALUES[text.charCodeAt(at)]!

/**
 * Returns where the next base64 of the minimum length begins, or -1. Reads backwards from its last character, and goes
 * on behind the first other character. A pattern would try each character of a word.
 */
function nextRun(text: string, from: number): number {
  for (let start = from; start + MIN_RUN_LENGTH <= text.length; ) {
    let at = start + MIN_RUN_LENGTH - 1
    while (at >= start && valueAt(text, at) >= 0) at--
    if (at < start) return start
    start = at + 1
  }
  return -1
}

/** Returns the end of the base64 that goes on here. */
function endOfRun(text: string, start: number): number {
  let end = start
  while (end < text.length && valueAt(text, end) >= 0) end++
  return end
}

function endOfPadding(text: string, start: number): number {
  let end = start
  while (end < start + 2 && text[end] === '=') end++
  return end
}

/** Characters of base64 that also separate words. */
const SEPARATORS: ReadonlySet<string> = new Set('/_+-')
/** Maximum offset in a run at which base64 may start, in characters. */
const MAX_START_OFFSET = 64
/** Minimum length of a run that cannot be just a few words, in characters. */
const LONG_RUN_LENGTH = 4096
/** Base64 may start at any of the first four characters. */
const OFFSETS: readonly number[] = [0, 1, 2, 3]

/**
 * Returns the edit of a run. Base64 may start at any of the first four characters, or after a character that also
 * separates words, as in `https://host/path/BASE64`. What it contains behind a separator is also in the content from
 * one of the first four characters, so that base64 inside base64 is searched for there only: otherwise, each level
 * would multiply the work.
 */
function editOf(run: string, { nested, plain }: ContentRedaction): Omit<Edit, 'end'> | undefined {
  for (const start of OFFSETS) {
    const text = redactedRun(run, start, nested)
    if (text !== undefined) return { start, text }
  }
  // Separators are ignored in a long run, most of which decodes even if its beginning is not base64.
  if (run.length > LONG_RUN_LENGTH) return undefined
  for (let start = 1; start <= MAX_START_OFFSET && start + MIN_RUN_LENGTH <= run.length; start++) {
    if (!SEPARATORS.has(run[start - 1]!)) continue
    const text = redactedRun(run, start, run.length - start < MIN_BINARY_LENGTH ? nested : plain)
    if (text !== undefined) return { start, text }
  }
  return undefined
}

/** Redacts the content of the base64 that begins here. Returns undefined if nothing changes. */
function redactedRun(text: string, start: number, redact: (content: string) => string): string | undefined {
  const length = text.length - start
  if (length < MIN_RUN_LENGTH || (length < MIN_BINARY_LENGTH && !mayBeText(text, start))) return undefined
  const run = text.slice(start)
  const bytes = Buffer.from(run, 'base64')
  const decoded = textIn(bytes)
  const isText = decoded !== undefined && PRINTABLE.test(decoded.replaceAll(/\s/g, ''))
  if (!isText && run.length < MIN_BINARY_LENGTH) return undefined
  const content = isText ? decoded : bytes.toString('latin1')
  const redacted = redact(content)
  if (redacted === content) return undefined
  return Buffer.from(redacted, isText ? 'utf8' : 'latin1').toString(/[_-]/.test(run) ? 'base64url' : 'base64')
}

/**
 * Returns false if the first bytes in base64 begin no printable text. Most words are no base64, and decoding them all
 * takes long.
 */
function mayBeText(text: string, start: number): boolean {
  const first = (valueAt(text, start) << 6) | valueAt(text, start + 1)
  const bits = (first << 12) | (valueAt(text, start + 2) << 6) | valueAt(text, start + 3)
  for (const shift of [16, 8, 0]) {
    const byte = (bits >> shift) & 0xff
    if (!isPrintable(byte)) return false
    // The bytes behind the first of a longer character are no beginnings.
    if (byte >= 0x80) return true
  }
  return true
}

/** Returns true for a byte with which printable text or white space may begin in UTF-8. */
const isPrintable = (byte: number): boolean =>
  (byte >= 0x20 && byte < 0x7f) || (byte >= 0x09 && byte <= 0x0d) || (byte >= 0xc2 && byte <= 0xf4)
