import type { Part } from '../../canonical/content.ts'
import type { Losses, Path } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { textOf } from './prompt.ts'

/** What a completion says of a part: its words, a refusal's too; undefined where it has none to read. */
export const wordsOf = (part: Part): string | undefined => (part.type === 'refusal' ? part.text : textOf(part))

/** All words of an answer, as the one text a completion is. */
export function writeTexts(content: readonly Part[], path: Path, losses: Losses): string {
  let text = ''
  for (const [index, part] of content.entries()) {
    text += wordsOf(part) ?? ''
    reportPart(part, [...path, index], losses)
  }
  return text
}

function reportPart(part: Part, path: Path, losses: Losses): void {
  if (part.type === 'text') losses.dropFields(part, path, { annotations: 'no-citations', cache: 'no-cache-markers' })
  else if (part.type === 'refusal') losses.change(path, { type: 'text', text: part.text }, 'said-as-text')
  else if (part.type === 'reasoning') losses.drop(path, 'no-reasoning')
  else if (part.type === 'tool-call') losses.drop(path, 'no-tool-calls')
  // Of opaque parts the hub itself tells what becomes.
  else if (part.type !== 'opaque') losses.drop(path, 'text-only')
}

/**
 * The prompt a choice repeats before its own text, where the caller wants that and the upstream knew nothing of it:
 * with several prompts, choices come in their order (FORMATS §3).
 */
export function echoOf({ messages, output }: CanonicalRequest, index: number, choices: number): string {
  if (output.completion?.echo !== true || messages.length === 0) return ''
  const each = Math.max(1, Math.floor(choices / messages.length))
  const prompt = messages[Math.min(messages.length - 1, Math.floor(index / each))]!
  return prompt.content.map(part => textOf(part) ?? '').join('')
}
