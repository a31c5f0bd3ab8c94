import { textIn } from './body.ts'
import type { Edit } from './splice.ts'

/** Minimum length of base64 whose content is searched, in characters. */
const MIN_RUN_LENGTH = 16
/** Pattern of base64 inside a text, in both alphabets. */
const RUN = /[A-Za-z0-9+/_-]{16,}={0,2}/g
/** Minimum length of base64 whose binary content is searched, in characters. Words also decode to binary. */
const MIN_BINARY_LENGTH = 64
const PRINTABLE = /^[^\p{Cc}\p{Cs}]*$/u

/** Redacts the content of base64 inside a text. Changed content is encoded again in the same alphabet. */
export function base64Edits(text: string, redact: (content: string) => string): readonly Edit[] {
  const edits: Edit[] = []
  for (const { 0: run, index } of text.matchAll(RUN))
    for (const start of startsIn(run)) {
      const redacted = redactedRun(run.slice(start), redact)
      if (redacted === undefined) continue
      edits.push({ start: index + start, end: index + run.length, text: redacted })
      break
    }
  return edits
}

/** Maximum offset in a run at which base64 may start, in characters. */
const MAX_START_OFFSET = 64
/** Minimum length of a run that cannot be just a few words, in characters. */
const LONG_RUN_LENGTH = 4096

/**
 * Returns the indexes at which base64 may start in a run: at any of the first four characters, or after a character
 * that also separates words, as in `https://host/path/BASE64`.
 */
function startsIn(run: string): readonly number[] {
  // Separators are ignored in a long run, most of which decodes even if its beginning is not base64.
  const separated =
    run.length > LONG_RUN_LENGTH
      ? []
      : [...run.slice(0, MAX_START_OFFSET).matchAll(/[/_+-]/g)].map(({ index }) => index + 1)
  return [...new Set([0, 1, 2, 3, ...separated])].filter(start => run.length - start >= MIN_RUN_LENGTH)
}

/** Redacts the content of base64. Returns undefined if nothing changes. */
function redactedRun(run: string, redact: (content: string) => string): string | undefined {
  const bytes = Buffer.from(run, 'base64')
  const decoded = textIn(bytes)
  const isText = decoded !== undefined && PRINTABLE.test(decoded.replaceAll(/\s/g, ''))
  if (!isText && run.length < MIN_BINARY_LENGTH) return undefined
  const content = isText ? decoded : bytes.toString('latin1')
  const redacted = redact(content)
  if (redacted === content) return undefined
  return Buffer.from(redacted, isText ? 'utf8' : 'latin1').toString(/[_-]/.test(run) ? 'base64url' : 'base64')
}
