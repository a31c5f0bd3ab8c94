import { textIn } from './body.ts'
import type { Edit } from './splice.ts'

/** Characters; shortest base64 whose content is searched. */
const SHORTEST_RUN = 16
/** Matches base64 inside a text, in both alphabets. */
const RUN = /[A-Za-z0-9+/_-]{16,}={0,2}/g
/** Characters; shortest base64 whose content is searched although it is binary. A word decodes to binary, too. */
const SHORTEST_BINARY = 64
const PRINTABLE = /^[^\p{Cc}\p{Cs}]*$/u

/** Redacts the content of base64 inside a text. Content that changes is encoded again, in the same alphabet. */
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

/** Characters; how far from its beginning a run is searched for the beginning of base64. */
const FARTHEST_START = 64
/** Characters; a run that is more than a few words. */
const LONG = 4096

/**
 * Returns where base64 may begin in a run: at any of four characters, or after a character that also separates words,
 * as in `https://host/path/BASE64`.
 */
function startsIn(run: string): readonly number[] {
  // The content of a long run is searched although its beginning is none of it.
  const separated =
    run.length > LONG ? [] : [...run.slice(0, FARTHEST_START).matchAll(/[/_+-]/g)].map(({ index }) => index + 1)
  return [...new Set([0, 1, 2, 3, ...separated])].filter(start => run.length - start >= SHORTEST_RUN)
}

/** Redacts the content of base64. Undefined if nothing changes. */
function redactedRun(run: string, redact: (content: string) => string): string | undefined {
  const bytes = Buffer.from(run, 'base64')
  const decoded = textIn(bytes)
  const isText = decoded !== undefined && PRINTABLE.test(decoded.replaceAll(/\s/g, ''))
  if (!isText && run.length < SHORTEST_BINARY) return undefined
  const content = isText ? decoded : bytes.toString('latin1')
  const redacted = redact(content)
  if (redacted === content) return undefined
  return Buffer.from(redacted, isText ? 'utf8' : 'latin1').toString(/[_-]/.test(run) ? 'base64url' : 'base64')
}
