/* Texts of targets in reports for people. A target may answer with anything. */

/** Control characters, which could move a terminal's cursor, and ends of lines. */
const CONTROL_CHARACTERS = /[\p{Cc}\u2028\u2029]/gu

const SHORT_ESCAPES: { readonly [character: string]: string } = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/**
 * Escapes control characters and ends of lines as JSON does, so that a target can neither move the terminal's cursor
 * nor write lines of its own, which CI servers may read as commands.
 */
export const printable = (text: string): string =>
  text.replace(CONTROL_CHARACTERS, one => SHORT_ESCAPES[one] ?? `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
