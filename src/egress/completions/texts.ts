import type { Part, TextPart } from '../../canonical/content.ts'
import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { textOf } from './prompt.ts'

/** The text of a part in a completion, including a refusal's; undefined where it has none. */
export const textIn = (part: Part): string | undefined => (part.type === 'refusal' ? part.text : textOf(part))

/** All texts of an answer, as the single text of a completion. */
export function writeTexts(content: readonly Part[], path: Path, losses: Losses): string {
  let text = ''
  for (const [index, part] of content.entries()) {
    text += textIn(part) ?? ''
    reportPart(part, [...path, index], losses)
  }
  return text
}
const TEXT_LOSSES: Unwritten<TextPart, 'type' | 'text'> = { annotations: 'no-citations', cache: 'no-cache-markers' }

function reportPart(part: Part, path: Path, losses: Losses): void {
  if (part.type === 'text') losses.dropFields(part, path, TEXT_LOSSES)
  else if (part.type === 'refusal') losses.change(path, { type: 'text', text: part.text }, 'said-as-text')
  else if (part.type === 'reasoning') losses.drop(path, 'no-reasoning')
  else if (part.type === 'tool-call') losses.drop(path, 'no-tool-calls')
  // Losses of opaque parts are reported by `foreign`.
  else if (part.type !== 'opaque') losses.drop(path, 'text-only')
}

/**
 * The prompt that a choice repeats before its own text, where the caller wants it and the upstream did not do so: with
 * several prompts, choices are in their order (FORMATS §3).
 */
export function echoOf({ messages, output }: CanonicalRequest, index: number, choices: number): string {
  if (output.completion?.echo !== true || messages.length === 0) return ''
  const each = Math.max(1, Math.floor(choices / messages.length))
  const prompt = messages[Math.min(messages.length - 1, Math.floor(index / each))]!
  return prompt.content.map(part => textOf(part) ?? '').join('')
}
