import { textIn } from './body.ts'
import type { Edit } from './splice.ts'

/** Matches base64 inside a text, in both alphabets. */
const RUN = /[A-Za-z0-9+/_-]{16,}={0,2}/g
/** Characters; shortest base64 whose content is searched although it is binary. A word decodes to binary, too. */
const SHORTEST_BINARY = 64
const PRINTABLE = /^[^\p{Cc}\p{Cs}]*$/u

/** Redacts the content of base64 inside a text. Content that changes is encoded again, in the same alphabet. */
export function base64Edits(text: string, redact: (content: string) => string): readonly Edit[] {
  const edits: Edit[] = []
  for (const { 0: run, index } of text.matchAll(RUN)) {
    const bytes = Buffer.from(run, 'base64')
    const decoded = textIn(bytes)
    const isText = decoded !== undefined && PRINTABLE.test(decoded.replaceAll(/\s/g, ''))
    if (!isText && run.length < SHORTEST_BINARY) continue
    const charset = isText ? 'utf8' : 'latin1'
    const content = isText ? decoded : bytes.toString('latin1')
    const redacted = redact(content)
    if (redacted === content) continue
    const encoding = /[_-]/.test(run) ? 'base64url' : 'base64'
    edits.push({ start: index, end: index + run.length, text: Buffer.from(redacted, charset).toString(encoding) })
  }
  return edits
}
