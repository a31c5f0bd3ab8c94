import type { Part, TextPart } from '../../canonical/content.ts'
import type { Losses, Path, Unwritten } from '../../canonical/loss.ts'
import type { Json } from '../../canonical/node.ts'
import type { CanonicalRequest, Message } from '../../canonical/request.ts'
import { spelt } from '../fields.ts'

export const FORMAT = 'completions'

/** Messages as independent prompts (FORMATS §3); a single one is written alone unless it was a list. */
export function writePrompt(request: CanonicalRequest, losses: Losses): Json {
  const prompts = request.messages.map((message, index) => writeMessage(message, ['messages', index], losses))
  return prompts.length === 1 && spelt(request, FORMAT)['prompt'] !== 'list' ? prompts[0]! : prompts
}
const MESSAGE_LOSSES: Unwritten<Message, 'role' | 'content'> = { name: 'prompts-have-no-names' }

function writeMessage(message: Message, path: Path, losses: Losses): Json {
  if (message.role !== 'user') losses.change([...path, 'role'], 'user', 'prompts-have-no-roles')
  losses.dropFields(message, path, MESSAGE_LOSSES)
  const tokens = tokensIn(message.content)
  if (tokens !== undefined) return tokens
  return joined(message.content, [...path, 'content'], losses)
}

/** A prompt of tokens has no other part. */
function tokensIn(content: readonly Part[]): Json | undefined {
  const [only, ...others] = content
  if (others.length > 0 || only?.type !== 'opaque' || only.format !== FORMAT) return undefined
  return only.value['tokens']
}

/** All texts of a prompt as one: the first becomes all of them. */
function joined(content: readonly Part[], path: Path, losses: Losses): string {
  const texts: { readonly index: number; readonly text: string }[] = []
  for (const [index, part] of content.entries()) {
    const text = textOf(part)
    if (text === undefined) {
      if (part.type !== 'opaque' || part.format === FORMAT) losses.drop([...path, index], 'prompts-are-texts')
      continue
    }
    if (part.type === 'text') losses.dropFields(part, [...path, index], TEXT_LOSSES)
    texts.push({ index, text })
  }
  const all = texts.map(({ text }) => text).join('')
  const [first, ...others] = texts
  if (first !== undefined && others.length > 0) {
    losses.change([...path, first.index], { type: 'text', text: all }, 'one-text-only')
    for (const { index } of others) losses.drop([...path, index], 'one-text-only')
  }
  return all
}

const TEXT_LOSSES: Unwritten<TextPart, 'type' | 'text'> = { cache: 'no-cache-markers', annotations: 'no-citations' }

/** The plain text of a part, if it has one. */
export function textOf(part: Part): string | undefined {
  if (part.type === 'text') return part.text
  return part.type === 'opaque' && part.format !== FORMAT ? part.text : undefined
}
