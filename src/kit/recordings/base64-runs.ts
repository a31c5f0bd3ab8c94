import { textIn } from './body.ts'
import type { Edit } from './splice.ts'

/** Minimum length of base64 whose content is searched, in characters. */
const MIN_RUN_LENGTH = 16
/**
 * Pattern of base64 inside a text, in both alphabets. `{16,}` would use up the stack of the regular expression in a run
 * of several megabytes.
 */
const RUN = /[A-Za-z0-9+/_-]{16}[A-Za-z0-9+/_-]*={0,2}/g
/** Minimum length of base64 whose binary content is searched, in characters. Words also decode to binary. */
const MIN_BINARY_LENGTH = 64
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
  for (const { 0: run, index } of text.matchAll(RUN)) {
    const edit = editOf(run, redaction)
    if (edit !== undefined) edits.push({ start: index + edit.start, end: index + run.length, text: edit.text })
  }
  return edits
}

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
    const text = redactedRun(run.slice(start), nested)
    if (text !== undefined) return { start, text }
  }
  // Separators are ignored in a long run, most of which decodes even if its beginning is not base64.
  if (run.length > LONG_RUN_LENGTH) return undefined
  for (const { index } of run.slice(0, MAX_START_OFFSET).matchAll(/[/_+-]/g)) {
    const rest = run.slice(index + 1)
    const text = redactedRun(rest, rest.length < MIN_BINARY_LENGTH ? nested : plain)
    if (text !== undefined) return { start: index + 1, text }
  }
  return undefined
}

/** Redacts the content of base64. Returns undefined if nothing changes. */
function redactedRun(run: string, redact: (content: string) => string): string | undefined {
  if (run.length < MIN_RUN_LENGTH) return undefined
  const bytes = Buffer.from(run, 'base64')
  const decoded = textIn(bytes)
  const isText = decoded !== undefined && PRINTABLE.test(decoded.replaceAll(/\s/g, ''))
  if (!isText && run.length < MIN_BINARY_LENGTH) return undefined
  const content = isText ? decoded : bytes.toString('latin1')
  const redacted = redact(content)
  if (redacted === content) return undefined
  return Buffer.from(redacted, isText ? 'utf8' : 'latin1').toString(/[_-]/.test(run) ? 'base64url' : 'base64')
}
